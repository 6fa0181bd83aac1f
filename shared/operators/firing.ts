import type { WindowNode } from "../pipeline/topology.ts";
import { byGroupAndKey, type KeyOrder } from "../state/key-order.ts";
import { always, type OperatorState, windowsInOrder } from "../state/stage-state.ts";
import type { WindowState } from "../state/window-state.ts";
import { isPast } from "./windows.ts";

/** A window with keys whose results are due. Without windows: without start and end. */
export interface FiringWindow {
  readonly start?: number;
  readonly end?: number;
  readonly window: WindowState;
  /** The keys that fire, by key group and key. */
  readonly keys: KeyOrder;
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
  return [{ window, keys: byGroupAndKey(window.keys, keyGroups, window.changed()), stays: true }];
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
    const keys = byGroupAndKey(window.keys, keyGroups, again ? window.changed() : undefined);
    return [{ start, end, window, keys, stays: !isPast(after, end, allowedLatenessMs) }];
  });
}
