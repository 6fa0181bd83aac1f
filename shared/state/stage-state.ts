import { isStateful, type StatefulNode, type Topology } from "../pipeline/topology.ts";
import { aggregatesOf, type NamedAggregate, newColumns } from "./columns.ts";
import { Dictionary } from "./dictionary.ts";
import type { Link, Part } from "./link.ts";
import { SpareRooms } from "./spare-rooms.ts";
import { SharedKeys } from "./window-keys.ts";
import { type Room, WindowState } from "./window-state.ts";

/** Key groups `[from, to)`. */
export interface GroupRange {
  readonly from: number;
  readonly to: number;
}

/** Windows of one stateful operator. Without windows there is one, which starts at `always` and never ends. */
export interface OperatorState {
  readonly node: StatefulNode;
  readonly aggregates: readonly NamedAggregate[];
  /** By start, epoch milliseconds. */
  readonly windows: Map<number, WindowState>;
  /** The keys of all windows; undefined where there is but one. */
  readonly dictionary: Dictionary | undefined;
  readonly spareRooms: SpareRooms;
}

/** The "start" of the state of operators without windows. */
export const always = 0;

/**
 * The state of the key groups `[from, to)` of one stage. In memory a window is one table over all of them; snapshots are cut by key group.
 * `StateStore` loads and saves it.
 */
export class StageState {
  readonly scope: string;
  readonly topology: Topology;
  readonly stage: number;
  readonly groups: GroupRange;
  readonly operators: readonly OperatorState[];
  /** The chain of snapshots of key group `groups.from + i`, oldest first. */
  readonly chains: (readonly Link[])[];
  /** Windows that are gone since the last snapshot. */
  readonly removed = new Set<WindowState>();
  /** Key groups from which keys are gone: written whole next. */
  readonly purged = new Set<number>();

  constructor(scope: string, topology: Topology, stage: number, groups: GroupRange) {
    this.scope = scope;
    this.topology = topology;
    this.stage = stage;
    this.groups = groups;
    this.chains = Array.from({ length: groups.to - groups.from }, () => []);
    const ids = topology.stages.find(({ index }) => index === stage)?.operators ?? [];
    const nodes = topology.nodes.filter(isStateful).filter(({ id }) => ids.includes(id));
    this.operators = nodes.map((node) => ({
      node,
      aggregates: aggregatesOf(node),
      windows: new Map(),
      dictionary: node.kind === "window" ? new Dictionary() : undefined,
      spareRooms: new SpareRooms(),
    }));
  }

  operator(id: string): OperatorState {
    const operator = this.operators.find(({ node }) => node.id === id);
    if (operator === undefined) throw new Error(`Stage ${this.stage} has no stateful operator "${id}"`);
    return operator;
  }

  /** The window that starts then, made if it is new. */
  window(operator: OperatorState, start: number): WindowState {
    const { windows, aggregates, node } = operator;
    let window = windows.get(start);
    if (window === undefined) {
      window = new WindowState(aggregates, node.id, start, roomFor(operator));
      windows.set(start, window);
    }
    return window;
  }

  /** Forgets a window. */
  remove({ windows, spareRooms }: OperatorState, start: number): void {
    const window = windows.get(start);
    if (window === undefined) return;
    windows.delete(start);
    spareRooms.give(window.discard());
    this.removed.add(window);
  }

  /** Forgets keys: of a window only `kept` are left. @param purged 1 for key groups that those which are gone belonged to */
  purge(window: WindowState, kept: Int32Array, purged: Uint8Array): void {
    const renumbered = window.keepOnly(kept);
    const renumber = (part: Part) => {
      if (part.window !== window) return part;
      const order = part.order.subarray(part.from, part.to).map((number) => renumbered[number]!);
      const left = order.filter((number) => number >= 0);
      return { window, order: left, from: 0, to: left.length };
    };
    for (const [index, chain] of this.chains.entries())
      this.chains[index] = chain.map((link) => (link.has(window) ? link.translated(renumber) : link));
    for (const [group, isPurged] of purged.entries()) if (isPurged === 1) this.purged.add(group);
  }

  /** Of all that its chains hold, before compression. */
  savedBytes(): number {
    let sum = 0;
    for (const chain of this.chains) for (const { bytes } of chain) sum += bytes;
    return sum;
  }

  /** All is in a snapshot now. */
  markSaved(): void {
    this.removed.clear();
    this.purged.clear();
    for (const { windows, dictionary } of this.operators) {
      for (const window of windows.values()) if (window.changes > 0) window.markSaved();
      dictionary?.forgetUnused([...windows.values()].flatMap(({ cells }) => cells ?? []));
    }
  }
}

/** Undefined where a window makes its own. */
function roomFor({ spareRooms, dictionary, aggregates }: OperatorState): Room | undefined {
  if (dictionary === undefined) return undefined;
  const spare = spareRooms.take();
  if (spare !== undefined) return spare;
  const keys = new SharedKeys(dictionary);
  return { keys, columns: newColumns(aggregates, keys.capacity) };
}

/** Windows with changes since the last snapshot, by operator and start. */
export function changedWindows({ operators }: StageState): WindowState[] {
  return operators.flatMap(({ windows }) =>
    [...windows.values()].filter(({ changes }) => changes > 0).sort((one, other) => one.start - other.start),
  );
}

/** Windows by start. */
export function windowsInOrder({ windows }: OperatorState): [start: number, window: WindowState][] {
  return [...windows].sort(([a], [b]) => a - b);
}
