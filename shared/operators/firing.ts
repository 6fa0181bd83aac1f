import type { WindowNode } from "../pipeline/topology.ts";
import type { Column } from "../state/columns.ts";
import { keysOf } from "../state/entries.ts";
import type { KeyOrder } from "../state/key-order.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { always, type OperatorState, windowsInOrder } from "../state/stage-state.ts";
import type { WindowState } from "../state/window-state.ts";
import { copyBytes } from "../utf8.ts";
import { isPast } from "./windows.ts";

/**
 * A window with keys whose results are due. Without windows: without start and end. Keys and accumulators are copies in the order in which they fire: this goes from key
 * group to key group through all windows, which could not all stay in the processor's cache.
 */
export interface FiringWindow {
  readonly start?: number;
  readonly end?: number;
  /** Number of each key in the window, by key group and key. */
  readonly keys: KeyOrder;
  /** Key i is `bytes[ends[i], ends[i + 1])`. */
  readonly bytes: Buffer;
  readonly ends: Int32Array;
  readonly columns: readonly Column[];
  /** It goes on taking records until the allowed lateness is over. */
  readonly stays: boolean;
}

/** What an operator has to say at the end of an epoch in which the watermark goes from W(n-1), `before`, to W(n), `after`. */
export function dueOf(
  operator: OperatorState,
  keyGroups: number,
  before: number | null,
  after: number | null,
): FiringWindow[] {
  if (operator.node.kind === "window")
    return after === null ? [] : firingWindows(operator, operator.node, keyGroups, before, after);
  const window = operator.windows.get(always);
  if (window === undefined || window.changes === 0) return [];
  return [{ ...inOrder(window, window.changedInOrder(keyGroups)), stays: true }];
}

/**
 * The windows that fire when the watermark goes from W(n-1), `before`, to W(n), `after`, in order of their ends. One fires as a whole when the
 * watermark passes its end, and later, within the allowed lateness, with the keys that changed since.
 */
function firingWindows(
  operator: OperatorState,
  { window: assigner, allowedLatenessMs }: WindowNode,
  keyGroups: number,
  before: number | null,
  after: number,
): FiringWindow[] {
  return windowsInOrder(operator).flatMap(([start, window]) => {
    const end = start + assigner.sizeMs;
    if (end > after) return [];
    const again = before !== null && end <= before;
    if (again && window.changes === 0) return [];
    const keys = again ? window.changedInOrder(keyGroups) : window.inOrder(keyGroups);
    return [{ start, end, ...inOrder(window, keys), stays: !isPast(after, end, allowedLatenessMs) }];
  });
}

function inOrder(window: WindowState, keys: KeyOrder) {
  const { order } = keys;
  const numbers = keysOf(window, order);
  const ends = endsInOrder(window.keys.ends, numbers);
  const bytes = bytesInOrder(window.keys, numbers, ends);
  return { keys, bytes, ends, columns: window.columns.map((column) => columnInOrder(column, order)) };
}

function endsInOrder(ends: Int32Array, order: Int32Array): Int32Array {
  const sorted = new Int32Array(order.length + 1);
  for (let index = 0, end = 0; index < order.length; index++) {
    const number = order[index]!;
    end += ends[number + 1]! - ends[number]!;
    sorted[index + 1] = end;
  }
  return sorted;
}

function bytesInOrder({ bytes, ends }: KeyColumn, order: Int32Array, sortedEnds: Int32Array): Buffer {
  const sorted = Buffer.allocUnsafeSlow(sortedEnds[order.length]!);
  for (let index = 0; index < order.length; index++) {
    const from = ends[order[index]!]!;
    copyBytes(sorted, sortedEnds[index]!, bytes, from, from + sortedEnds[index + 1]! - sortedEnds[index]!);
  }
  return sorted;
}

function columnInOrder(column: Column, order: Int32Array): Column {
  const sorted: Column = column instanceof Float64Array ? new Float64Array(order.length) : new Array(order.length);
  for (let index = 0; index < order.length; index++) sorted[index] = column[order[index]!];
  return sorted;
}
