import type { WindowAssigner } from "../pipeline/topology.ts";

/** The windows of a time, `first`, `first + every`, … `last` by their starts, which are those of all times in `[from, until)`. */
export interface AssignedWindows {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly until: number;
}

/** The windows that a time lies in: those with `start <= time < start + size`; starts are multiples of `every`, plus the offset. */
export function windowsAt({ sizeMs, everyMs, offsetMs = 0 }: WindowAssigner, time: number): AssignedWindows {
  const last = alignDown(time, everyMs, offsetMs);
  const first = alignDown(time - sizeMs, everyMs, offsetMs) + everyMs;
  return {
    first,
    last,
    from: Math.max(last, first - everyMs + sizeMs),
    until: Math.min(last + everyMs, first + sizeMs),
  };
}

function alignDown(time: number, everyMs: number, offsetMs: number): number {
  return Math.floor((time - offsetMs) / everyMs) * everyMs + offsetMs; // never -0, since `+ 0` makes it 0
}

/** Whether a record is late for a window with this end, or the window's state can go: W is W(n-1) for the one, W(n) for the other. */
export function isPast(watermark: number | null, end: number, allowedLatenessMs: number): boolean {
  return watermark !== null && end + allowedLatenessMs <= watermark;
}
