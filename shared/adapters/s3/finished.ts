import { createHash } from "node:crypto";
import type { Json } from "../../json.ts";
import type { PartitionStatus } from "../../ports/source.ts";
import { finishedRecord, rememberedMs } from "../lines/finished.ts";
import type { FoundObject } from "./bucket.ts";

/** So many characters of base64 stand for an object: 96 bits, so that a million of them have a chance of 10⁻¹⁷ to be taken for one another. */
const markLength = 16;
const hourMs = 60 * 60_000;

type Identity = { readonly finished: string; readonly gone: { readonly [since: string]: string } };

/**
 * The objects that were read to their end, in few bytes each: in the ledger's rows they take the place of partitions. Those that were deleted are forgotten a day later.
 */
export class Finished {
  readonly #isKnown: boolean;
  readonly #marks: ReadonlySet<string>;
  /** By the hour in which they were missed first; epoch milliseconds. */
  readonly #gone: ReadonlyMap<string, number>;

  constructor(identity?: Json) {
    this.#isKnown = identity !== undefined;
    const { finished, gone } = isIdentity(identity) ? identity : { finished: "", gone: {} };
    this.#marks = new Set(marksIn(finished));
    this.#gone = new Map(
      Object.entries(gone).flatMap(([since, text]) => marksIn(text).map((mark) => [mark, Number(since)])),
    );
  }

  has(object: Pick<FoundObject, "key" | "etag">): boolean {
    const mark = markOf(object);
    return this.#marks.has(mark) || this.#gone.has(mark);
  }

  /**
   * What is to be remembered now; undefined before there is anything.
   *
   * @param listed objects that are there, among those that were remembered
   * @param more others that were read to their end
   */
  status(
    listed: readonly FoundObject[],
    more: readonly Pick<FoundObject, "key" | "etag">[],
    now: number,
  ): PartitionStatus | undefined {
    const marks = new Set([...listed, ...more].map(markOf));
    const gone: Record<string, string> = {};
    const missed = Math.floor(now / hourMs) * hourMs;
    const before = [...this.#gone, ...[...this.#marks].map((mark) => [mark, missed] as const)];
    for (const [mark, since] of before)
      if (!marks.has(mark) && now - since < rememberedMs + hourMs) gone[since] = (gone[since] ?? "") + mark;
    if (!this.#isKnown && marks.size === 0) return undefined;
    return finishedRecord({ finished: [...marks].sort().join(""), gone });
  }
}

function markOf({ key, etag }: Pick<FoundObject, "key" | "etag">): string {
  return createHash("sha256").update(`${key}\n${etag}`).digest("base64url").slice(0, markLength);
}

function marksIn(text: string): string[] {
  return Array.from({ length: text.length / markLength }, (_, n) => text.slice(n * markLength, (n + 1) * markLength));
}

function isIdentity(value: Json | undefined): value is Identity {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { finished, gone } = value as { readonly [key: string]: Json };
  return typeof finished === "string" && gone !== null && typeof gone === "object";
}
