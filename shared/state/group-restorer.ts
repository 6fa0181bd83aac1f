import { type ByteReader, MalformedError } from "./bytes.ts";
import type { Column, NamedAggregate } from "./columns.ts";
import { decodeEntries, type Entries } from "./entries.ts";
import { keyGroupOf } from "./key-codec.ts";
import { Link, type Part } from "./link.ts";
import { kind, part } from "./snapshot.ts";
import type { OperatorState, StageState } from "./stage-state.ts";
import { WindowState } from "./window-state.ts";

/** Windows of one operator with the same start: one that is gone may be followed by another in the chain. */
interface RestoredWindow {
  readonly operator: OperatorState;
  readonly start: number;
  isGone: boolean;
}

interface RestoredLink {
  readonly object: string;
  readonly bytes: number;
  readonly removed: RestoredWindow[];
  readonly parts: { readonly window: RestoredWindow; readonly entries: Entries; readonly bytes: number }[];
}

/** Puts one key group together from its chain of snapshots, oldest first, then into the state. */
export class GroupRestorer {
  readonly #state: StageState;
  readonly #group: number;
  /** By operator, in the order of the state's operators: windows that are there so far. */
  readonly #windows: Map<number, RestoredWindow>[];
  readonly #links: RestoredLink[] = [];

  constructor(state: StageState, group: number) {
    this.#state = state;
    this.#group = group;
    this.#windows = state.operators.map(() => new Map());
  }

  /** @throws MalformedError if it is no snapshot, or not the one that belongs here */
  add(object: string, reader: ByteReader): void {
    const link: RestoredLink = { object, bytes: reader.left, removed: [], parts: [] };
    const as = reader.byte();
    if (as !== (this.#links.length === 0 ? kind.base : kind.delta))
      throw new MalformedError("base and delta are mixed up");
    this.#links.push(link);
    for (let begin = reader.at, type = reader.byte(); type !== part.end; begin = reader.at, type = reader.byte()) {
      const operator = reader.text();
      const start = reader.float64();
      const index = this.#state.operators.findIndex(({ node }) => node.id === operator);
      if (index < 0) throw new MalformedError(`it has state of an operator "${operator}" that the pipeline has not`);
      if (type === part.removed) this.#remove(link, index, start);
      else if (type === part.entries) this.#addEntries(link, index, start, reader, begin);
      else throw new MalformedError("it has a part of an unknown type");
    }
    if (reader.left > 0) throw new MalformedError("it has more than it should");
  }

  #remove({ removed }: RestoredLink, index: number, start: number): void {
    const window = this.#windows[index]!.get(start);
    if (window === undefined) return;
    window.isGone = true;
    removed.push(window);
    this.#windows[index]!.delete(start);
  }

  #addEntries({ parts }: RestoredLink, index: number, start: number, reader: ByteReader, begin: number): void {
    const operator = this.#state.operators[index]!;
    const entries = decodeEntries(reader);
    for (const [at, of] of operator.aggregates.entries()) checkColumn(of, entries.columns[at]);
    const { keyGroups } = this.#state.topology;
    for (const hash of entries.keys.hashes) {
      if (keyGroupOf(hash, keyGroups) !== this.#group) throw new MalformedError("it has a key of another key group");
    }
    const windows = this.#windows[index]!;
    let window = windows.get(start);
    if (window === undefined) {
      window = { operator, start, isGone: false };
      windows.set(start, window);
    }
    parts.push({ window, entries, bytes: reader.at - begin });
  }

  /** The chain; its keys are in the state then. */
  finish(): Link[] {
    const states = new Map<RestoredWindow, WindowState>();
    const stateOf = (window: RestoredWindow) => {
      const state = states.get(window) ?? this.#stateOf(window);
      states.set(window, state);
      return state;
    };
    const gone = new Set<WindowState>();
    const links = this.#links.map(({ object, bytes, removed, parts }) => {
      const restored = parts.map(({ window: of, entries }) => {
        const window = stateOf(of);
        if (window.isGone) gone.add(window);
        const order = window.isGone ? nothing : window.restore(entries);
        return { window, order, from: 0, to: order.length };
      });
      const sizes = parts.map((one) => one.bytes);
      return new Link(object, bytes, removed.map(stateOf), restored, sizes);
    });
    for (const link of links) link.countGone(gone);
    return links;
  }

  #stateOf({ operator, start, isGone }: RestoredWindow): WindowState {
    if (!isGone) return this.#state.window(operator, start);
    const window = new WindowState([], operator.node.id, start);
    window.discard();
    return window;
  }
}

const nothing = new Int32Array(0);

function checkColumn({ name, aggregate }: NamedAggregate, column: Column | undefined): void {
  if (column === undefined) throw new MalformedError(`it lacks the aggregate "${name}"`);
  if (aggregate.numeric !== true || column instanceof Float64Array) return;
  if (!column.every((accumulator) => typeof accumulator === "number")) {
    throw new MalformedError(`the accumulators of the aggregate "${name}" are no numbers`);
  }
}

/** Copies key groups of one state, all of which is saved, into another. The accumulators are shared: the source must not be used for these groups again. */
export function copyGroups(from: StageState, to: StageState, groups: readonly number[]): void {
  const copy = ({ window: source, order, from: first, to: last }: Part): Part => {
    if (source.isGone) return { window: source, order, from: 0, to: 0 };
    const window = to.window(to.operator(source.operator), source.start);
    const numbers = window.restore(source, order.subarray(first, last));
    return { window, order: numbers, from: 0, to: numbers.length };
  };
  for (const group of groups) {
    const chain = from.chains[group - from.groups.from]!;
    to.chains[group - to.groups.from] = chain.map((link) => link.translated(copy));
  }
}
