import { ByteWriter } from "./bytes.ts";
import { sameObjects } from "./chains.ts";
import { compacted, spansOf } from "./compaction.ts";
import type { GroupedObjectWriter } from "./grouped-object.ts";
import type { Link } from "./link.ts";
import { kind, SnapshotEncoder } from "./snapshot.ts";
import type { GroupRange, StageState } from "./stage-state.ts";

/** Key groups with the same chain, and what changed of each, as it would be written alone: to know its size. */
interface Piece {
  readonly groups: GroupRange;
  readonly chains: readonly (readonly Link[])[];
  /** One a group. */
  readonly drafts: readonly Link[];
  /** Where they begin among the drafts of the span. */
  readonly begin: number;
  /** How many of the last objects of the chain the new one takes in. */
  readonly taken: number;
  readonly isWhole: boolean;
}

/** Writes what changed of a state, if anything did, into an object, and as much as shall be compacted with it. */
export function writeChanges(
  state: StageState,
  key: string,
  object: GroupedObjectWriter,
): Map<number, readonly Link[]> {
  const writer = new ChangeWriter(state, key, object);
  for (const span of spansOf(state.groups, state.topology.keyGroups)) writer.write(span);
  return writer.chains;
}

class ChangeWriter {
  /** The new chains of the key groups that were written, or have lost their state. */
  readonly chains = new Map<number, readonly Link[]>();
  readonly #state: StageState;
  readonly #object: GroupedObjectWriter;
  readonly #encoder: SnapshotEncoder;
  readonly #drafts = new ByteWriter();

  constructor(state: StageState, key: string, object: GroupedObjectWriter) {
    this.#state = state;
    this.#object = object;
    this.#encoder = new SnapshotEncoder(state, key);
  }

  /** A span is written whole, if any piece of it is: so what tasks have cut comes together again. */
  write(span: GroupRange): void {
    this.#drafts.length = 0;
    const pieces: Piece[] = [];
    for (const groups of this.#sameChains(span)) {
      if (groupsOf(groups).some((group) => this.#encoder.isChanged(group))) pieces.push(this.#draft(groups));
    }
    if (pieces.some(({ isWhole }) => isWhole)) this.#writeWhole(span);
    else for (const piece of pieces) this.#writeDelta(piece);
  }

  /** The span in runs of key groups with the same chain. */
  *#sameChains({ from, to }: GroupRange): Generator<GroupRange> {
    for (let start = from, group = from + 1; group <= to; group++) {
      if (group < to && sameObjects(this.#chainOf(start), this.#chainOf(group))) continue;
      yield { from: start, to: group };
      start = group;
    }
  }

  #draft(groups: GroupRange): Piece {
    const chains = groupsOf(groups).map((group) => this.#chainOf(group));
    const { length } = chains[0]!;
    const begin = this.#drafts.length;
    const isWhole = length === 0 || groupsOf(groups).some((group) => this.#state.purged.has(group));
    if (isWhole) return { groups, chains, drafts: [], begin, taken: length, isWhole };
    const drafts = groupsOf(groups).map((group) => this.#encoder.encode(this.#drafts, group, kind.delta, []));
    const taken = compacted(groups, chains, this.#drafts.length - begin);
    return { groups, chains, drafts, begin, taken, isWhole: taken === length };
  }

  #writeWhole(span: GroupRange): void {
    const groups = groupsOf(span);
    const isAlive = (group: number) =>
      this.#encoder.hasChangedKeys(group) || this.#chainOf(group).some(({ anyAlive }) => anyAlive);
    if (!groups.some(isAlive)) {
      for (const group of groups) this.chains.set(group, []);
      return;
    }
    for (const group of groups) {
      this.#object.begin(group);
      const link = this.#encoder.encode(this.#object.writer, group, kind.base, this.#chainOf(group));
      this.chains.set(group, [link]);
    }
  }

  #writeDelta({ groups, chains, drafts, begin, taken }: Piece): void {
    let at = begin;
    for (const [index, group] of groupsOf(groups).entries()) {
      const chain = chains[index]!;
      const kept = chain.slice(0, chain.length - taken);
      this.#object.begin(group);
      if (taken > 0) {
        const links = chain.slice(kept.length);
        this.chains.set(group, [...kept, this.#encoder.encode(this.#object.writer, group, kind.delta, links)]);
        continue;
      }
      const draft = drafts[index]!;
      this.#object.writer.raw(this.#drafts.bytes, at, at + draft.bytes);
      at += draft.bytes;
      this.chains.set(group, [...kept, draft]);
    }
  }

  #chainOf(group: number): readonly Link[] {
    return this.#state.chains[group - this.#state.groups.from]!;
  }
}

function groupsOf({ from, to }: GroupRange): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
