import type { ChainRun } from "../epoch/epoch.ts";
import type { Topology } from "../pipeline/topology.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { type ByteReader, MalformedError } from "./bytes.ts";
import { expandChains, mergeChains, sameChain } from "./chains.ts";
import { GroupedObjectWriter, readGroups } from "./grouped-object.ts";
import { keyGroupOf } from "./key-codec.ts";
import {
  copyGroups,
  corruptSnapshot,
  GroupRestorer,
  type Kind,
  kind,
  missingSnapshot,
  SnapshotEncoder,
  snapshotMagic,
} from "./snapshot.ts";
import { emptyChain, type GroupChain, type GroupRange, StageState } from "./stage-state.ts";

/** A chain is never longer: reading state takes so many objects at most. */
const longestChain = 8;

/**
 * Loads and saves the state of tasks (DESIGN §8). One a worker: it keeps the state that it last wrote, and uses it again only for key groups
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

/** Key groups that differ from their last snapshot, ascending. */
function changedGroups(state: StageState): number[] {
  const changed = new Uint8Array(state.topology.keyGroups);
  for (const removed of state.removed) for (const group of removed.groups) changed[group] = 1;
  for (const { windows } of state.operators) {
    for (const window of windows.values()) mark(changed, window.keys.hashes, window.changed);
  }
  return [...changed.keys()].filter((group) => changed[group] === 1);
}

/** What to write of each changed key group that has any state left, ascending. */
function chooseKinds(state: StageState): Map<number, Kind> {
  const live = new Uint8Array(state.topology.keyGroups);
  for (const { windows } of state.operators) {
    for (const { keys } of windows.values()) mark(live, keys.hashes.subarray(0, keys.count));
  }
  const kinds = new Map<number, Kind>();
  for (const group of changedGroups(state)) {
    if (live[group] === 0) continue;
    const { objects, baseBytes, deltaBytes } = state.chains[group - state.groups.from]!;
    const whole = objects.length === 0 || objects.length >= longestChain || deltaBytes > baseBytes;
    kinds.set(group, whole ? kind.base : kind.delta);
  }
  return kinds;
}

/** Marks the key groups of keys with these hashes, or of those with these numbers. */
function mark(groups: Uint8Array, hashes: Int32Array, numbers?: readonly number[]): void {
  if (numbers === undefined) for (const hash of hashes) groups[keyGroupOf(hash, groups.length)] = 1;
  else for (const number of numbers) groups[keyGroupOf(hashes[number]!, groups.length)] = 1;
}

function extend(chain: GroupChain, key: string, as: Kind, size: number): GroupChain {
  if (as === kind.base) return { objects: [key], baseBytes: size, deltaBytes: 0 };
  return { objects: [...chain.objects, key], baseBytes: chain.baseBytes, deltaBytes: chain.deltaBytes + size };
}

function overlap(a: GroupRange, b: GroupRange): boolean {
  return a.from < b.to && b.from < a.to;
}

function sameRange(a: GroupRange, b: GroupRange): boolean {
  return a.from === b.from && a.to === b.to;
}
