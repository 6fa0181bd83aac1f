import { isStateful, type StatefulNode, type Topology } from "../pipeline/topology.ts";
import { aggregatesOf, type NamedAggregate } from "./columns.ts";
import { keyGroupOf } from "./key-codec.ts";
import { WindowState } from "./window-state.ts";

export interface GroupRange {
  readonly from: number;
  readonly to: number;
}

/** The snapshot objects that a key group's state can be restored from, and their sizes, which say when to compact. */
export interface GroupChain {
  readonly objects: readonly string[];
  readonly baseBytes: number;
  readonly deltaBytes: number;
}

/** A window that is gone, though the snapshot has entries of it in these key groups. */
export interface RemovedWindow {
  readonly operator: string;
  readonly start: number;
  readonly groups: ReadonlySet<number>;
}

/** Windows of one stateful operator. Without windows there is one, which starts at `always` and never ends. */
export interface OperatorState {
  readonly node: StatefulNode;
  readonly aggregates: readonly NamedAggregate[];
  /** By start, epoch milliseconds. */
  readonly windows: Map<number, WindowState>;
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
  /** Of key group `groups.from + i`. */
  readonly chains: GroupChain[];
  removed: RemovedWindow[] = [];
  /** Key groups from which keys are gone: written whole next. */
  purged = new Set<number>();

  constructor(scope: string, topology: Topology, stage: number, groups: GroupRange) {
    this.scope = scope;
    this.topology = topology;
    this.stage = stage;
    this.groups = groups;
    this.chains = Array.from({ length: groups.to - groups.from }, () => emptyChain);
    const ids = topology.stages.find(({ index }) => index === stage)?.operators ?? [];
    const nodes = topology.nodes.filter(isStateful).filter(({ id }) => ids.includes(id));
    this.operators = nodes.map((node) => ({ node, aggregates: aggregatesOf(node), windows: new Map() }));
  }

  operator(id: string): OperatorState {
    const operator = this.operators.find(({ node }) => node.id === id);
    if (operator === undefined) throw new Error(`Stage ${this.stage} has no stateful operator "${id}"`);
    return operator;
  }

  /** The window that starts then, made if it is new. */
  window({ windows, aggregates }: OperatorState, start: number): WindowState {
    let window = windows.get(start);
    if (window === undefined) {
      window = new WindowState(aggregates);
      windows.set(start, window);
    }
    return window;
  }

  /** Forgets a window. */
  remove({ windows, node }: OperatorState, start: number): void {
    const window = windows.get(start);
    if (window === undefined) return;
    windows.delete(start);
    const groups = new Set<number>();
    for (let number = 0; number < window.saved; number++) {
      groups.add(keyGroupOf(window.keys.hashes[number]!, this.topology.keyGroups));
    }
    if (groups.size > 0) this.removed.push({ operator: node.id, start, groups });
  }

  /** Forgets keys: of the operator's window only `kept` is left. @param purged 1 for key groups that those which are gone belonged to */
  purge({ windows }: OperatorState, start: number, kept: WindowState, purged: Uint8Array): void {
    windows.set(start, kept);
    for (const [group, isPurged] of purged.entries()) if (isPurged === 1) this.purged.add(group);
  }

  /** Of all that its chains hold, before compression. */
  savedBytes(): number {
    return this.chains.reduce((sum, { baseBytes, deltaBytes }) => sum + baseBytes + deltaBytes, 0);
  }

  /** All is in a snapshot now. */
  markSaved(): void {
    this.removed = [];
    this.purged = new Set();
    for (const { windows } of this.operators) for (const window of windows.values()) window.markSaved();
  }
}

export const emptyChain: GroupChain = { objects: [], baseBytes: 0, deltaBytes: 0 };

/** Windows by start. */
export function windowsInOrder({ windows }: OperatorState): [start: number, window: WindowState][] {
  return [...windows].sort(([a], [b]) => a - b);
}
