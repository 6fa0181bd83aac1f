import { LossError, UsageError } from "../../errors.ts";
import { type Compression, type CompressionOption, compressionOf, magicBytes } from "../compression/decompress.ts";
import { measure } from "../compression/measure.ts";
import { Turn } from "../compression/turn.ts";
import { incomplete } from "../lines/input-errors.ts";
import { checkText } from "../lines/text-checks.ts";
import type { Bucket } from "./bucket.ts";
import { InputObject, type ObjectIdentity } from "./input-object.ts";

/** Requests at a time, and objects that are looked at in one go: the others wait for the next. */
const parallel = 16;
const mostLooks = 512;

/** Looks at new objects: whether they are compressed, and how long they are without. */
export class NewObjects {
  readonly #bucket: Bucket;
  readonly #compression: CompressionOption;

  constructor(bucket: Bucket, compression: CompressionOption) {
    this.#bucket = bucket;
    this.#compression = compression;
  }

  /**
   * Those that can be read next, as they are; others as they came, `unread`.
   *
   * @param open bytes that are left to read of compressed objects that are known already
   * @returns in the same order; undefined for one that is gone, or was replaced, meanwhile
   * @throws LossError `input-damaged`, `input-incomplete`
   */
  async look(objects: readonly ObjectIdentity[], open: readonly number[]): Promise<(ObjectIdentity | undefined)[]> {
    if (this.#compression === "none") return objects.map(({ key, etag, bytes }) => ({ key, etag, bytes }));
    const turn = new Turn();
    for (const bytes of open) turn.take(bytes);
    const looked: (ObjectIdentity | undefined)[] = [];
    while (looked.length < objects.length && looked.length < mostLooks && turn.isOpen) {
      const some = objects.slice(looked.length, looked.length + parallel);
      for (const one of await Promise.all(some.map((object) => this.#lookAt(object)))) {
        looked.push(one);
        if (one?.packed) turn.take(one.packed.size);
      }
    }
    return [...looked, ...objects.slice(looked.length).map((one) => ({ ...one, unread: true as const }))];
  }

  async #lookAt({ key, etag, bytes }: ObjectIdentity): Promise<ObjectIdentity | undefined> {
    const identity = { key, etag, bytes };
    const object = new InputObject(this.#bucket, identity);
    try {
      const head = await object.bytes(0, Math.min(bytes, magicBytes));
      const format = this.#formatOf(head, object.url);
      if (format === undefined) return identity;
      const measured = await measure(object.raw(), format);
      if (measured === "incomplete") throw incomplete(object.url, format);
      return { ...identity, packed: { format, size: measured.size } };
    } catch (error) {
      // It was found a moment ago, and nothing was read of it: the next look says what is there now.
      if (error instanceof LossError && ["input-vanished", "input-replaced"].includes(error.code)) return undefined;
      throw error;
    }
  }

  #formatOf(head: Uint8Array, url: string): Compression | undefined {
    const format = compressionOf(head);
    if (this.#compression !== "auto" && format !== this.#compression) {
      throw new UsageError("input-not-compressed", `${url} is not compressed by ${this.#compression}`, {
        wayOut:
          "Leave the source's `compression` out, so that each object is read as what it is, or `exclude` this one.",
        place: { file: url },
      });
    }
    if (format === undefined) checkText(head, url);
    return format;
  }
}
