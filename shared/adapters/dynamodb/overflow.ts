import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompressSync, zstdDecompress } from "node:zlib";
import { EpochflowError, LossError } from "../../errors.ts";
import type { ObjectStore } from "../../ports/object-store.ts";

const inflate = promisify(zstdDecompress);

/** Text that was too long for its row: the object that holds it, the digest of the text, and its length in bytes. */
export interface Reference {
  readonly object: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What is kept of texts that were read or written, so that a warm worker does not read them again. */
const mostCachedCharacters = 16 << 20;

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** @param bytes how long the text is: nothing is inflated beyond that */
export async function decompress(packed: Uint8Array, bytes: number): Promise<string> {
  return (await inflate(packed, { maxOutputLength: Math.max(1, bytes) })).toString();
}

/**
 * Long texts of rows, as objects of the snapshot store (protocol §5). They are named by epoch and content, so that who writes one again writes the same, and
 * lie apart from the objects of invocations, which the collector judges by their names.
 */
export class Overflow {
  readonly #objects: ObjectStore;
  readonly #folder: () => Promise<string>;
  readonly #cache = new Map<string, string>();
  #cachedCharacters = 0;

  /** @param folder of this ledger, by pipeline and uid */
  constructor(objects: ObjectStore, folder: () => Promise<string>) {
    this.#objects = objects;
    this.#folder = folder;
  }

  async put(epoch: string, text: string): Promise<Reference> {
    const sha256 = digestOf(text);
    const object = `${await this.#folder()}${epoch}-${sha256}`;
    const reference = { object, sha256, bytes: Buffer.byteLength(text) };
    if (this.#cache.has(object)) return reference;
    try {
      await this.#objects.put(object, [zstdCompressSync(text, compression)], { durable: true });
    } catch (error) {
      if (!(error instanceof EpochflowError && error.code === "object-exists")) throw error;
    }
    this.#keep(object, text);
    return reference;
  }

  /** @throws LossError `ledger-object-missing`, `ledger-object-damaged` (I8) */
  async get({ object, sha256, bytes }: Reference): Promise<string> {
    const cached = this.#cache.get(object);
    if (cached !== undefined) return cached;
    const packed = await this.#objects.get(object);
    if (packed === undefined)
      throw lost("missing", `The object ${object} is missing, which holds a part of the ledger`);
    const text = await decompress(packed, bytes).catch(() => undefined);
    if (text === undefined || digestOf(text) !== sha256)
      throw lost("damaged", `The object ${object} is not as the ledger wrote it`);
    this.#keep(object, text);
    return text;
  }

  /** Deletes the objects of epochs below `epoch` that no row names; gives how many. */
  async sweep(epoch: string, named: ReadonlySet<string>): Promise<number> {
    const folder = await this.#folder();
    const garbage: string[] = [];
    for await (const object of this.#objects.list(folder)) {
      const isOld = object.slice(folder.length, folder.length + epoch.length) < epoch;
      if (isOld && !named.has(object)) garbage.push(object);
    }
    await this.#objects.delete(garbage);
    return garbage.length;
  }

  #keep(object: string, text: string): void {
    if (text.length > mostCachedCharacters / 4) return;
    this.#cache.set(object, text);
    this.#cachedCharacters += text.length;
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cachedCharacters <= mostCachedCharacters) return;
      this.#cache.delete(oldest);
      this.#cachedCharacters -= length;
    }
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function lost(what: string, message: string): LossError {
  return new LossError(`ledger-object-${what}`, message, {
    wayOut: "Restore table and bucket from backups of the same moment, or start anew with `epochflow reset`.",
  });
}
