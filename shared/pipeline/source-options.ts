import { UsageError } from "../errors.ts";
import { type DecoderLike, toDecoder } from "./decoders/decoder.ts";
import { checkDuration, minutes } from "./durations.ts";
import { type OrParameter, Parameter } from "./parameter.ts";
import { toSelector } from "./pointer.ts";
import type { PointerTo } from "./pointer-types.ts";
import type { Decoder, SourceDescription } from "./topology.ts";

/** What every source takes, of whatever kind it is. */
export interface SourceOptions<T> {
  /** How a record's bytes become a value: `text()`, `json(schema)`, …, a decoder of your own, or a function of the text. */
  readonly value: DecoderLike<T>;
  /** Event time of a value in epoch milliseconds: a function of the value, or a JSON pointer into it. Without it the source's own, and if it has none the time at which the epoch was planned. */
  readonly timestamp?: ((value: NoInfer<T>) => number) | PointerTo<NoInfer<T>, number>;
  /** Milliseconds by which a record may lie behind an earlier one of its partition; default 0. The watermark stays back by as much. */
  readonly outOfOrder?: number;
  /** Milliseconds after which a partition with nothing left to read no longer holds the watermark back; default a minute. */
  readonly idleAfter?: number;
}

/** Names of the above, for `checkOptions`. */
export const sourceOptionNames = ["value", "timestamp", "outOfOrder", "idleAfter"] as const;

/** @throws UsageError `invalid-argument` or `invalid-duration` */
export function describeSource<T, K = string | undefined>(
  kind: string,
  given: SourceOptions<T>,
  options: Readonly<Record<string, unknown>>,
  key?: Decoder<K>,
): SourceDescription<T, K> {
  return {
    kind,
    options,
    value: toDecoder(`value of ${kind}.source()`, given.value),
    key,
    timestamp:
      given.timestamp === undefined
        ? undefined
        : toSelector<(value: T) => number>(`timestamp of ${kind}.source()`, given.timestamp),
    outOfOrderMs: checkDuration(`outOfOrder of ${kind}.source()`, given.outOfOrder ?? 0),
    idleAfterMs: checkDuration(`idleAfter of ${kind}.source()`, given.idleAfter ?? minutes(1)),
  };
}

/** A text that must be there, now or when the parameters are. @throws UsageError `invalid-option` */
export function checkText(what: string, given: unknown): OrParameter<string> {
  if (given instanceof Parameter || (typeof given === "string" && given !== "")) return given;
  throw new UsageError("invalid-option", `${what} must be a text or a parameter(…), and not empty`);
}
