import { LossError } from "../errors.ts";
import { type ByteReader, type ByteWriter, MalformedError } from "./bytes.ts";
import { NotDataError } from "./codec.ts";
import { type Column, type NamedAggregate, noData } from "./columns.ts";
import { decodeEntries, type Entries, encodeEntries, pick } from "./entries.ts";
import { keyGroupOf } from "./key-codec.ts";
import { byGroup, byGroupAndKey, type KeyOrder } from "./key-order.ts";
import { type OperatorState, type StageState, windowsInOrder } from "./stage-state.ts";
import type { WindowState } from "./window-state.ts";

/*
 * What a snapshot object (grouped-object.ts) has for one key group: a byte, 0 for a base and 1 for a delta; then parts, each a
 * byte, the operator's id and the window's start: 1 the window is gone, 2 its entries follow (entries.ts). 0 ends it.
 */
export const snapshotMagic = "EFST";

/** How a key group goes into a snapshot: all of its state, or what changed. */
export const kind = { base: 0, delta: 1 } as const;
export type Kind = (typeof kind)[keyof typeof kind];

const part = { end: 0, removed: 1, entries: 2 } as const;

interface Selection {
  readonly operator: OperatorState;
  readonly start: number;
  readonly window: WindowState;
  readonly sorted: KeyOrder;
}

/** Writes key groups, of which some are whole and others deltas. Sorted by operator, window and key: equal state makes equal bytes. */
export class SnapshotEncoder {
  readonly #state: StageState;
  readonly #selections: readonly Selection[];

  /** @param kinds by key group; groups that are absent are not to be written */
  constructor(state: StageState, kinds: ReadonlyMap<number, Kind>) {
    this.#state = state;
    const anyBase = [...kinds.values()].includes(kind.base);
    this.#selections = state.operators.flatMap((operator) =>
      windowsInOrder(operator).flatMap(([start, window]) => {
        const numbers = anyBase ? select(window, kinds, state.topology.keyGroups) : window.changed();
        if ((numbers?.length ?? window.changes) === 0) return [];
        return [{ operator, start, window, sorted: byGroupAndKey(window.keys, state.topology.keyGroups, numbers) }];
      }),
    );
  }

  encode(writer: ByteWriter, group: number, as: Kind): void {
    writer.byte(as);
    if (as === kind.delta) this.#encodeRemovals(writer, group);
    for (const { operator, start, window, sorted } of this.#selections) {
      const from = sorted.starts[group]!;
      const to = sorted.starts[group + 1]!;
      if (from === to) continue;
      encodePart(writer, part.entries, operator.node.id, start);
      try {
        encodeEntries(writer, window, sorted.order, from, to);
      } catch (error) {
        if (!(error instanceof NotDataError)) throw error;
        throw noData(operator.aggregates[error.column]!, error.message, error);
      }
    }
    writer.byte(part.end);
  }

  #encodeRemovals(writer: ByteWriter, group: number): void {
    for (const { operator, start, groups } of this.#state.removed) {
      if (groups.has(group)) encodePart(writer, part.removed, operator, start);
    }
  }
}

function select(window: WindowState, kinds: ReadonlyMap<number, Kind>, keyGroups: number): number[] {
  const numbers: number[] = [];
  for (let number = 0; number < window.keys.count; number++) {
    const as = kinds.get(keyGroupOf(window.keys.hashes[number]!, keyGroups));
    if (as === kind.base || (as === kind.delta && window.isChanged(number))) numbers.push(number);
  }
  return numbers;
}

function encodePart(writer: ByteWriter, type: number, operator: string, start: number): void {
  writer.byte(type);
  writer.text(operator);
  writer.float64(start);
}

/** Puts one key group together from its chain of snapshots, oldest first, then into the state. */
export class GroupRestorer {
  readonly #state: StageState;
  readonly #group: number;
  /** By operator, in the order of the state's operators: entries by window. */
  readonly #windows: Map<number, Entries[]>[];
  #empty = true;

  constructor(state: StageState, group: number) {
    this.#state = state;
    this.#group = group;
    this.#windows = state.operators.map(() => new Map());
  }

  /** @throws MalformedError if it is no snapshot, or not the one that belongs here */
  add(reader: ByteReader): void {
    const as = reader.byte();
    if (as !== (this.#empty ? kind.base : kind.delta)) throw new MalformedError("base and delta are mixed up");
    this.#empty = false;
    for (let type = reader.byte(); type !== part.end; type = reader.byte()) {
      const operator = reader.text();
      const start = reader.float64();
      const index = this.#state.operators.findIndex(({ node }) => node.id === operator);
      if (index < 0) throw new MalformedError(`it has state of an operator "${operator}" that the pipeline has not`);
      if (type === part.removed) this.#windows[index]!.delete(start);
      else if (type === part.entries) this.#addEntries(index, start, reader);
      else throw new MalformedError("it has a part of an unknown type");
    }
    if (reader.left > 0) throw new MalformedError("it has more than it should");
  }

  #addEntries(index: number, start: number, reader: ByteReader): void {
    const entries = decodeEntries(reader);
    for (const [at, of] of this.#state.operators[index]!.aggregates.entries()) checkColumn(of, entries.columns[at]);
    const { keyGroups } = this.#state.topology;
    for (const hash of entries.keys.hashes) {
      if (keyGroupOf(hash, keyGroups) !== this.#group) throw new MalformedError("it has a key of another key group");
    }
    const windows = this.#windows[index]!;
    const before = windows.get(start);
    if (before === undefined) windows.set(start, [entries]);
    else before.push(entries);
  }

  finish(): void {
    for (const [index, windows] of this.#windows.entries()) {
      const operator = this.#state.operators[index]!;
      for (const [start, list] of windows) {
        for (const entries of list) this.#state.window(operator, start).restore(entries);
      }
    }
  }
}

function checkColumn({ name, aggregate }: NamedAggregate, column: Column | undefined): void {
  if (column === undefined) throw new MalformedError(`it lacks the aggregate "${name}"`);
  if (aggregate.numeric !== true || column instanceof Float64Array) return;
  if (!column.every((accumulator) => typeof accumulator === "number")) {
    throw new MalformedError(`the accumulators of the aggregate "${name}" are no numbers`);
  }
}

/** Copies key groups of one state into another. The accumulators are shared: the source must not be used for these groups again. */
export function copyGroups(from: StageState, to: StageState, groups: readonly number[]): void {
  for (const [index, source] of from.operators.entries()) {
    for (const [start, window] of source.windows) {
      const { order, starts } = byGroup(window.keys, from.topology.keyGroups);
      const numbers = groups.flatMap((group) => [...order.subarray(starts[group], starts[group + 1])]);
      if (numbers.length > 0) to.window(to.operators[index]!, start).restore(pick(window, numbers));
    }
  }
}

const wayOut =
  "The state cannot be read, and nothing of this epoch was decided. Bring the object back (a bucket's versions, a backup of the state folder), or start again with `epochflow reset`.";

/** I8: a snapshot object that the ledger names is not there. */
export function missingSnapshot(key: string): LossError {
  return new LossError("snapshot-missing", `The snapshot object "${key}" is missing`, { wayOut });
}

/** I8: a snapshot object is not what was written. */
export function corruptSnapshot(key: string, cause: MalformedError): LossError {
  return new LossError("snapshot-corrupt", `The snapshot object "${key}" is damaged: ${cause.message}`, {
    wayOut,
    cause,
  });
}
