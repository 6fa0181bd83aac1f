import { UsageError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { checkDuration } from "./durations.ts";
import type { WindowAssigner } from "./topology.ts";

/** Where windows start. */
export interface WindowOffset {
  /**
   * Milliseconds by which every start lies after (below 0: before) a multiple of the size, or of `every`, counted from 1970 in UTC; as in Flink. Days that begin at
   * midnight in a zone 8 hours ahead of UTC have `hours(-8)`. Its absolute value is less than the distance of two starts; offsets that differ
   * by that distance, such as `hours(-8)` and `hours(16)` of days, mean the same windows. Default 0.
   */
  readonly offset?: number;
}

/**
 * Windows of `sizeMs` one after the other, each `[k × size + offset, (k + 1) × size + offset)` of event time, counted from 1970 in UTC.
 *
 * @throws UsageError `invalid-duration` unless the size is a positive integer; `invalid-window` for an offset that is not smaller than the size
 */
export function tumbling(sizeMs: number, options: WindowOffset = {}): WindowAssigner {
  checkOptions("tumbling()", options, ["offset"]);
  return checkWindow({ kind: "tumbling", sizeMs, everyMs: sizeMs, ...offsetOf(options) });
}

/**
 * Overlapping windows: one of `size` starts `every` so many milliseconds, counted from 1970 in UTC, plus `offset`. `every` need not divide `size`.
 *
 * @throws UsageError `invalid-duration`, or `invalid-window` if `every` is above `size`, which would leave records in no window, or `offset` not smaller than `every`
 */
export function sliding(options: { readonly size: number; readonly every: number } & WindowOffset): WindowAssigner {
  checkOptions("sliding()", options, ["size", "every", "offset"]);
  return checkWindow({ kind: "sliding", sizeMs: options.size, everyMs: options.every, ...offsetOf(options) });
}

const offsetOf = ({ offset }: WindowOffset) => (offset === undefined ? {} : { offsetMs: offset });

/** The windows, with their offset as `WindowAssigner` has it. @throws UsageError as the two above: `.window` takes plain data too. */
export function checkWindow(window: WindowAssigner): WindowAssigner {
  if (window?.kind !== "tumbling" && window?.kind !== "sliding") {
    throw new UsageError("invalid-window", ".window() takes tumbling(size) or sliding({ size, every })");
  }
  const { offsetMs: given = 0, ...aligned } = window;
  const { kind, sizeMs, everyMs } = aligned;
  checkDuration(`the size of a ${kind} window`, sizeMs, 1);
  checkDuration(`"every" of a ${kind} window`, everyMs, 1);
  checkDuration(`the offset of a ${kind} window`, given, Number.MIN_SAFE_INTEGER);
  if (everyMs > sizeMs) {
    throw new UsageError("invalid-window", `A sliding window of ${sizeMs} ms every ${everyMs} ms has gaps`, {
      wayOut: "Make `every` at most `size`.",
    });
  }
  if (Math.abs(given) >= everyMs) {
    const distance = kind === "tumbling" ? "size" : '"every"';
    throw new UsageError(
      "invalid-window",
      `The offset of a ${kind} window is ${given} ms, but must be smaller than its ${distance}, ${everyMs} ms`,
      { wayOut: `Take the rest after division by ${everyMs}: the windows are the same.` },
    );
  }
  const offsetMs = given < 0 ? given + everyMs : given;
  return offsetMs === 0 ? aligned : { ...aligned, offsetMs };
}
