import type { ChainRun } from "../epoch/epoch.ts";
import type { Topology } from "../pipeline/topology.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { type ByteReader, MalformedError } from "./bytes.ts";
import { expandChains, mergeChains, objectsOf, sameChain } from "./chains.ts";
import { copyGroups, GroupRestorer } from "./group-restorer.ts";
import { GroupedObjectWriter } from "./grouped-object.ts";
import { type GroupedObject, openGroups } from "./open-groups.ts";
import { snapshotMagic } from "./snapshot.ts";
import { corruptSnapshot, missingSnapshot } from "./snapshot-loss.ts";
import { type GroupRange, StageState } from "./stage-state.ts";
import { writeChanges } from "./write-changes.ts";

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
      wanted.every((chain, at) => sameChain(chain, objectsOf(only.chains[at]!)))
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
   * Writes one object with what changed, if anything did, and what it takes in of the objects before it (compaction.ts). Returns the chains of the task's key
   * groups; a key group without state may have an empty one.
   */
  async save(state: StageState, key: string): Promise<ChainRun[]> {
    const object = new GroupedObjectWriter(snapshotMagic);
    const chains = writeChanges(state, key, object);
    if (!object.isEmpty) await this.#objects.put(key, object.finish(), { durable: true });
    for (const [group, chain] of chains) state.chains[group - state.groups.from] = chain;
    state.markSaved();
    this.#keep(state);
    return mergeChains(state.chains.map(objectsOf), state.groups.from);
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
      return chain !== undefined && sameChain(objectsOf(chain), wanted[group - from]!);
    });
    copyGroups(source, state, groups);
    for (const group of groups) cold.delete(group);
  }

  /** A slice of key groups after the other, so that little is in memory that is not yet in the state. */
  async #read(state: StageState, wanted: readonly (readonly string[])[], cold: ReadonlySet<number>): Promise<void> {
    const { from } = state.groups;
    const chainOf = (group: number) => wanted[group - from]!;
    const keys = new Set([...cold].flatMap(chainOf));
    const objects = new Map(await Promise.all([...keys].map(async (key) => [key, await this.#open(key)] as const)));
    const sizeOf = (group: number) =>
      chainOf(group).reduce((sum, key) => sum + (objects.get(key)!.sizes.get(group) ?? 0), 0);
    for (const slice of slices([...cold], sizeOf)) {
      const wantedOf = Map.groupBy(
        slice.flatMap((group) => chainOf(group).map((key) => ({ key, group }))),
        ({ key }) => key,
      );
      const parts = new Map(
        await Promise.all(
          [...wantedOf].map(async ([key, list]) => {
            const groups = new Set(list.map(({ group }) => group));
            return [key, await named(key, () => objects.get(key)!.read((group) => groups.has(group)))] as const;
          }),
        ),
      );
      for (const group of slice) {
        const restorer = new GroupRestorer(state, group);
        for (const key of chainOf(group)) restoreOne(restorer, key, parts.get(key)!.get(group));
        state.chains[group - from] = restorer.finish();
      }
    }
  }

  async #open(key: string): Promise<GroupedObject> {
    const object = await named(key, () => openGroups((bytes) => this.#objects.get(key, bytes), snapshotMagic));
    if (object === undefined) throw missingSnapshot(key);
    return object;
  }
}

const sliceBytes = 32 * 1024 * 1024;

function* slices(groups: readonly number[], sizeOf: (group: number) => number): Generator<number[]> {
  let slice: number[] = [];
  let bytes = 0;
  for (const group of groups) {
    slice.push(group);
    bytes += sizeOf(group);
    if (bytes < sliceBytes) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

/** Adds one object's part of a key group. */
function restoreOne(restorer: GroupRestorer, key: string, reader: ByteReader | undefined): void {
  try {
    if (reader === undefined) throw new MalformedError("it lacks a key group");
    restorer.add(key, reader);
  } catch (error) {
    throw error instanceof MalformedError ? corruptSnapshot(key, error) : error;
  }
}

async function named<T>(key: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
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
