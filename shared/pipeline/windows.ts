import { UsageError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { checkDuration } from "./durations.ts";
import type { WindowAssigner } from "./topology.ts";

/**
 * Windows of `sizeMs` one after the other, each `[k × size, (k + 1) × size)` of event time, counted from 1970 in UTC.
 *
 * @throws UsageError `invalid-duration` unless the size is a positive integer
 */
export function tumbling(sizeMs: number): WindowAssigner {
  return checkWindow({ kind: "tumbling", sizeMs, everyMs: sizeMs });
}

/**
 * Overlapping windows: one of `size` starts `every` so many milliseconds, counted from 1970 in UTC. `every` need not divide `size`.
 *
 * @throws UsageError `invalid-duration`, or `invalid-window` if `every` is above `size`, which would leave records in no window
 */
export function sliding(options: { readonly size: number; readonly every: number }): WindowAssigner {
  checkOptions("sliding()", options, ["size", "every"]);
  return checkWindow({ kind: "sliding", sizeMs: options.size, everyMs: options.every });
}

/** @throws UsageError as the two above: `.window` takes plain data too. */
export function checkWindow(window: WindowAssigner): WindowAssigner {
  if (window?.kind !== "tumbling" && window?.kind !== "sliding") {
    throw new UsageError("invalid-window", ".window() takes tumbling(size) or sliding({ size, every })");
  }
  checkDuration(`the size of a ${window.kind} window`, window.sizeMs, 1);
  checkDuration(`"every" of a ${window.kind} window`, window.everyMs, 1);
  if (window.everyMs > window.sizeMs) {
    throw new UsageError(
      "invalid-window",
      `A sliding window of ${window.sizeMs} ms every ${window.everyMs} ms has gaps`,
      {
        wayOut: "Make `every` at most `size`.",
      },
    );
  }
  return window;
}
