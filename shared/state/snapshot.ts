import type { ByteWriter } from "./bytes.ts";
import { NotDataError } from "./codec.ts";
import { noData } from "./columns.ts";
import { encodeEntries } from "./entries.ts";
import type { KeyOrder } from "./key-order.ts";
import { Link, type Part, partOf, union } from "./link.ts";
import { changedWindows, type StageState } from "./stage-state.ts";
import type { WindowState } from "./window-state.ts";

/*
 * What a snapshot object (grouped-object.ts) has for one key group: a byte, 0 for a base and 1 for a delta; then parts, each a
 * byte, the operator's id and the window's start: 1 the window is gone, 2 its entries follow (entries.ts). 0 ends it.
 */
export const snapshotMagic = "EFST";

/** How a key group goes into a snapshot: all of its state, or what changed. */
export const kind = { base: 0, delta: 1 } as const;
export type Kind = (typeof kind)[keyof typeof kind];

export const part = { end: 0, removed: 1, entries: 2 } as const;

/** Writes key groups of a state into one object, and makes the links of its chains. Sorted by operator, window and key: equal state makes equal bytes. */
export class SnapshotEncoder {
  readonly #state: StageState;
  readonly #object: string;
  readonly #changed: readonly { readonly window: WindowState; readonly order: KeyOrder }[];
  /** By key group: windows gone since the last snapshot that its chain has. */
  readonly #removed: ReadonlyMap<number, readonly WindowState[]>;

  /** @param object its key */
  constructor(state: StageState, object: string) {
    const { keyGroups } = state.topology;
    this.#state = state;
    this.#object = object;
    this.#changed = changedWindows(state).map((window) => ({ window, order: window.changedInOrder(keyGroups) }));
    this.#removed = removedByGroup(state);
  }

  /** Whether the group differs from its last snapshot. */
  isChanged(group: number): boolean {
    return this.#removed.has(group) || this.#state.purged.has(group) || this.hasChangedKeys(group);
  }

  hasChangedKeys(group: number): boolean {
    return this.#changed.some(({ order: { starts } }) => starts[group]! < starts[group + 1]!);
  }

  /** Writes what changed of a group, and what these links have of it: the last ones of its chain, or all of them for a base. */
  encode(writer: ByteWriter, group: number, as: Kind, links: readonly Link[]): Link {
    const begin = writer.length;
    writer.byte(as);
    const removed = as === kind.base ? [] : this.#removedOf(group, links);
    for (const window of removed) encodePart(writer, part.removed, window);
    const parts = this.#partsOf(group, links);
    const sizes: number[] = [];
    for (const one of parts) {
      const before = writer.length;
      encodePart(writer, part.entries, one.window);
      this.#encodeEntries(writer, one);
      sizes.push(writer.length - before);
    }
    writer.byte(part.end);
    return new Link(this.#object, writer.length - begin, removed, parts, sizes);
  }

  /** A delta says that a window is gone if an object before it in the chain has it. */
  #removedOf(group: number, links: readonly Link[]): WindowState[] {
    const gone = [...links.flatMap(({ removed }) => removed), ...(this.#removed.get(group) ?? [])];
    if (gone.length === 0) return gone;
    const chain = this.#state.chains[group - this.#state.groups.from]!;
    const before = chain.slice(0, chain.length - links.length);
    return gone.filter((window) => before.some((link) => link.has(window)));
  }

  #partsOf(group: number, links: readonly Link[]): Part[] {
    const changed: Part[] = [];
    for (const { window, order } of this.#changed) {
      const part = partOf(window, order, group);
      if (part.from < part.to) changed.push(part);
    }
    if (links.length === 0) return changed;
    const parts = union([changed, ...links.map((link) => link.parts()).reverse()]);
    const ids = this.#state.operators.map(({ node }) => node.id);
    const place = ({ window }: Part) => ids.indexOf(window.operator);
    return parts.sort((one, other) => place(one) - place(other) || one.window.start - other.window.start);
  }

  #encodeEntries(writer: ByteWriter, { window, order, from, to }: Part): void {
    try {
      encodeEntries(writer, window, order, from, to);
    } catch (error) {
      if (!(error instanceof NotDataError)) throw error;
      throw noData(this.#state.operator(window.operator).aggregates[error.column]!, error.message, error);
    }
  }
}

function removedByGroup({ removed, chains, groups }: StageState): Map<number, readonly WindowState[]> {
  const byGroup = new Map<number, readonly WindowState[]>();
  if (removed.size === 0) return byGroup;
  for (const [index, chain] of chains.entries()) {
    const gone = new Set(chain.flatMap((link) => link.countGone(removed)));
    if (gone.size > 0) byGroup.set(groups.from + index, [...gone]);
  }
  return byGroup;
}

function encodePart(writer: ByteWriter, type: number, { operator, start }: WindowState): void {
  writer.byte(type);
  writer.text(operator);
  writer.float64(start);
}
