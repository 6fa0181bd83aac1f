import type { ChainRun } from "../epoch/epoch.ts";
import type { Topology } from "../pipeline/topology.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { type ByteReader, MalformedError } from "./bytes.ts";
import { expandChains, mergeChains, sameChain } from "./chains.ts";
import { changedGroups, chooseKinds, extend } from "./compaction.ts";
import { GroupedObjectWriter, readGroups } from "./grouped-object.ts";
import {
  copyGroups,
  corruptSnapshot,
  GroupRestorer,
  kind,
  missingSnapshot,
  SnapshotEncoder,
  snapshotMagic,
} from "./snapshot.ts";
import { emptyChain, type GroupRange, StageState } from "./stage-state.ts";

/**
 * Loads and saves the state of tasks (protocol §8). One a worker: it keeps the state that it last wrote, and uses it again only for key groups
 * whose chain, in the ledger's checkpoint, is exactly what that state was written to.
 */
export class StateStore {
  readonly #objects: ObjectStore;
  /** States that no task has: disjoint ranges of key groups, by scope and stage. */
  readonly #warm = new Map<string, StageState[]>();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /**
   * The state of a task. Warm state is taken *out*, and comes back by `save`: so what an attempt changed and did not save is never used.
   *
   * @param scope pipeline and uid of the ledger
   * @param chains the checkpoint's chains of this stage
   * @throws LossError `snapshot-missing`, `snapshot-corrupt`
   */
  async load(
    scope: string,
    topology: Topology,
    stage: number,
    groups: GroupRange,
    chains: readonly ChainRun[],
  ): Promise<StageState> {
    const wanted = expandChains(chains, groups);
    const warm = this.#take(scope, topology, stage, groups);
    const [only] = warm;
    if (
      only !== undefined &&
      sameRange(only.groups, groups) &&
      wanted.every((chain, at) => sameChain(chain, only.chains[at]!.objects))
    ) {
      return only;
    }
    const state = new StageState(scope, topology, stage, groups);
    const cold = new Set<number>();
    for (let group = groups.from; group < groups.to; group++)
      if (wanted[group - groups.from]!.length > 0) cold.add(group);
    for (const source of warm) this.#reuse(source, state, wanted, cold);
    await this.#read(state, wanted, cold);
    return state;
  }

  /**
   * Writes one object with what changed, if anything did, and returns the chains of the task's key groups. A chain that is long, or whose deltas
   * outweigh its base, is written whole, and then is this object alone; a key group without state has an empty one.
   */
  async save(state: StageState, key: string): Promise<ChainRun[]> {
    const { from } = state.groups;
    const kinds = chooseKinds(state);
    const chains = [...state.chains];
    for (const group of changedGroups(state)) if (!kinds.has(group)) chains[group - from] = emptyChain;
    if (kinds.size > 0) {
      const encoder = new SnapshotEncoder(state, kinds);
      const object = new GroupedObjectWriter(snapshotMagic);
      for (const [group, as] of kinds) {
        object.begin(group);
        encoder.encode(object.writer, group, as);
        chains[group - from] = extend(chains[group - from]!, key, as, object.groupSize);
      }
      await this.#objects.put(key, object.finish(), { durable: true });
    }
    for (const [index, chain] of chains.entries()) state.chains[index] = chain;
    state.markSaved();
    this.#keep(state);
    return mergeChains(
      chains.map(({ objects }) => objects),
      from,
    );
  }

  #take(scope: string, topology: Topology, stage: number, groups: GroupRange): StageState[] {
    const id = `${scope}/${stage}`;
    const taken: StageState[] = [];
    const left: StageState[] = [];
    for (const state of this.#warm.get(id) ?? []) (overlap(state.groups, groups) ? taken : left).push(state);
    this.#warm.set(id, left);
    return taken.filter((state) => state.topology === topology);
  }

  #keep(state: StageState): void {
    const id = `${state.scope}/${state.stage}`;
    const others = this.#warm.get(id) ?? [];
    this.#warm.set(id, [...others.filter(({ groups }) => !overlap(groups, state.groups)), state]);
  }

  /** Takes over the key groups whose chain is the wanted one, and strikes them off the list of those to read. */
  #reuse(source: StageState, state: StageState, wanted: readonly (readonly string[])[], cold: Set<number>): void {
    const { from } = state.groups;
    const groups = [...cold].filter((group) => {
      const chain = source.chains[group - source.groups.from];
      return chain !== undefined && sameChain(chain.objects, wanted[group - from]!);
    });
    copyGroups(source, state, groups);
    for (const group of groups) {
      cold.delete(group);
      state.chains[group - from] = source.chains[group - source.groups.from]!;
    }
  }

  async #read(state: StageState, wanted: readonly (readonly string[])[], cold: ReadonlySet<number>): Promise<void> {
    const { from } = state.groups;
    const ranges = new Map<string, { from: number; to: number }>();
    for (const group of cold) {
      for (const key of wanted[group - from]!) {
        const range = ranges.get(key);
        if (range === undefined) ranges.set(key, { from: group, to: group + 1 });
        else range.to = group + 1;
      }
    }
    const objects = new Map(
      await Promise.all([...ranges].map(async ([key, range]) => [key, await this.#readObject(key, range)] as const)),
    );
    for (const group of cold) {
      const chain = wanted[group - from]!;
      const restorer = new GroupRestorer(state, group);
      let grown = emptyChain;
      for (const key of chain) {
        const size = restoreOne(restorer, key, objects.get(key)!.get(group));
        grown = extend(grown, key, grown.objects.length === 0 ? kind.base : kind.delta, size);
      }
      restorer.finish();
      state.chains[group - from] = grown;
    }
  }

  async #readObject(key: string, range: GroupRange): Promise<ReadonlyMap<number, ByteReader>> {
    try {
      const object = await readGroups((bytes) => this.#objects.get(key, bytes), snapshotMagic, range);
      if (object === undefined) throw missingSnapshot(key);
      return object.groups;
    } catch (error) {
      throw error instanceof MalformedError ? corruptSnapshot(key, error) : error;
    }
  }
}

/** Adds one object's part of a key group; returns its size. */
function restoreOne(restorer: GroupRestorer, key: string, reader: ByteReader | undefined): number {
  try {
    if (reader === undefined) throw new MalformedError("it lacks a key group");
    const size = reader.left;
    restorer.add(reader);
    return size;
  } catch (error) {
    throw error instanceof MalformedError ? corruptSnapshot(key, error) : error;
  }
}

function overlap(a: GroupRange, b: GroupRange): boolean {
  return a.from < b.to && b.from < a.to;
}

function sameRange(a: GroupRange, b: GroupRange): boolean {
  return a.from === b.from && a.to === b.to;
}
