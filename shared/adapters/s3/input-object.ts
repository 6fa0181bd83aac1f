import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { KnownPartition } from "../../ports/source.ts";
import type { Compression, RawInput } from "../compression/decompress.ts";
import { replaced, shrank, vanished } from "../lines/input-errors.ts";
import type { ReadableInput } from "../lines/lines.ts";
import type { Bucket } from "./bucket.ts";
import { ReadAhead } from "./read-ahead.ts";

/**
 * What is remembered of an object (protocol §7): its key and its version. The entity tag is the version, since a bucket that keeps none has it too: an object with
 * the same tag has the same bytes. `packed`: it is compressed, and has so many bytes without. `unread`: it waits for its turn to be looked at.
 */
export type ObjectIdentity = {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
  readonly packed?: { readonly format: Compression; readonly size: number };
  readonly unread?: true;
};

/** Of its text. */
export function sizeOf({ bytes, packed }: ObjectIdentity): number {
  return packed?.size ?? bytes;
}

/** @throws LossError `input-identity-invalid` for an identity that this source has not made */
export function identityOf({ id, identity }: Pick<KnownPartition, "id" | "identity">): ObjectIdentity {
  if (isObjectIdentity(identity)) return identity;
  throw new LossError("input-identity-invalid", `the ledger holds no identity of an object for partition ${id}`, {
    wayOut: "The source of the pipeline was of another kind: start anew with `epochflow reset`.",
    place: { partition: id },
  });
}

function isObjectIdentity(value: Json): value is ObjectIdentity {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { key, etag, bytes } = value as { [key: string]: Json };
  return typeof key === "string" && typeof etag === "string" && Number.isSafeInteger(bytes);
}

/** An object as it was when it was found: another version of it is a loss (I8). */
export class InputObject implements ReadableInput {
  readonly #bucket: Bucket;
  readonly #identity: ObjectIdentity;

  constructor(bucket: Bucket, identity: ObjectIdentity) {
    this.#bucket = bucket;
    this.#identity = identity;
  }

  get url(): string {
    return this.#bucket.urlOf(this.#identity.key);
  }

  async readAll(buffer: Buffer, length: number, position: number): Promise<void> {
    buffer.set(await this.bytes(position, position + length));
  }

  /** Its stored bytes, read from the beginning to the end. */
  raw(): RawInput {
    const { bytes: size } = this.#identity;
    const ahead = new ReadAhead(this, { from: 0, to: size });
    return {
      path: this.url,
      size,
      async read(buffer, length, position) {
        const there = Math.min(length, size - position);
        await ahead.readAll(buffer, there, position);
        return there;
      },
      close: async () => {},
    };
  }

  /** @throws LossError `input-vanished`, `input-replaced`, `input-shrank` */
  async bytes(start: number, end: number): Promise<Uint8Array> {
    if (start === end) return new Uint8Array();
    const { key, etag } = this.#identity;
    const bytes = await this.#bucket.get(key, { range: { start, end }, etag });
    if (bytes === "missing") throw vanished(this.url, start);
    if (bytes === "changed") throw replaced(this.url, start);
    if (bytes.length < end - start) throw shrank(this.url, start + bytes.length, end);
    return bytes;
  }
}
