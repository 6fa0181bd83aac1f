import type { ChainRun } from "../epoch/epoch.ts";
import type { Topology } from "../pipeline/topology.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { recordBatch } from "../ports/record-batch.ts";
import type { RecordBatch } from "../ports/source.ts";
import type { StateStore } from "../state/state-store.ts";
import type { MutableCounts } from "./counts.ts";
import type { StageEnvironment } from "./environment.ts";
import { KeyedStage } from "./keyed-stage.ts";
import { encodePartials, type Partials, readPartials } from "./partials.ts";
import { SourceStage } from "./source-stage.ts";

/** Objects in memory. */
export class TestObjects implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  /** Bytes that `get` gave so far. */
  bytesRead = 0;

  async put(key: string, chunks: readonly Uint8Array[]): Promise<void> {
    if (this.objects.has(key)) throw new Error(`${key} exists`);
    this.objects.set(key, Uint8Array.from(Buffer.concat(chunks)));
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | undefined> {
    const bytes = this.objects.get(key)?.slice(range?.start, range?.end);
    this.bytesRead += bytes?.length ?? 0;
    return bytes;
  }

  async *list(prefix: string): AsyncIterable<string> {
    for (const key of this.objects.keys()) if (key.startsWith(prefix)) yield key;
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key);
  }
}

/** A record for a test: its value, and what a source may know beside it. */
export interface TestRecord {
  readonly value: string | Uint8Array | null;
  readonly timestamp?: number;
  readonly key?: string | Uint8Array;
  readonly headers?: Record<string, string | Uint8Array>;
}

/** Records as a source would deliver them, at offsets from `firstOffset` on, in steps of 10. */
export function batchOf(records: readonly TestRecord[], firstOffset = 0): RecordBatch {
  const isTimed = records.some(({ timestamp }) => timestamp !== undefined);
  const placed = records.map((record, row) => ({
    ...record,
    offset: firstOffset + row * 10,
    ...(isTimed && { timestamp: record.timestamp ?? 0 }),
  }));
  return recordBatch(placed, firstOffset + records.length * 10);
}

/** The records of a sub-range, as batches. */
export interface TestSubRange {
  readonly partition: string;
  readonly batches: readonly RecordBatch[];
}

/** One epoch to run: its plan, and how its work is shared. */
export interface TestEpoch {
  readonly epoch: number;
  readonly subRanges: readonly TestSubRange[];
  readonly before: number | null;
  readonly after: number | null;
  readonly chains: readonly ChainRun[];
  /** How many tasks stage 0 and stage 1 have; absent: fused. */
  readonly tasks?: { readonly source: number; readonly keyed: number };
  /** No sub-range is added to another before the shuffle. */
  readonly apart?: boolean;
}

export interface EpochResult {
  /** Rows of each sink: of stage 0 in order of tasks, then of stage 1. */
  readonly rows: Record<string, unknown[]>;
  readonly chains: ChainRun[];
  readonly counts: MutableCounts[];
  readonly open: { nextFire: number | null; openUntil: number | null }[];
  /** Bytes that the state would be restored from. */
  readonly saved: number;
}

/** Runs an epoch as `epoch/operate.ts` does, with as many stage-0 and stage-1 tasks as asked for. */
export async function runEpoch(
  topology: Topology,
  store: StateStore,
  objects: TestObjects,
  { epoch, subRanges, before, after, chains, tasks, apart = false }: TestEpoch,
): Promise<EpochResult> {
  const rows: Record<string, unknown[]> = {};
  const environment: StageEnvironment = {
    topology,
    watermark: before,
    processingTime: 0,
    write: (sink, written) => {
      rows[sink] = [...(rows[sink] ?? []), ...written];
    },
  };
  const counts: MutableCounts[] = [];
  const shuffles: Partials[][] = [];
  for (const share of shares(subRanges.length, tasks?.source ?? 1)) {
    const stage = new SourceStage(environment);
    const own = subRanges.slice(share.from, share.to);
    shuffles.push(own.map((subRange) => runSubRange(stage, subRange, !apart && subRange !== own.at(-1))));
    counts.push(stage.counts);
  }
  const result: Omit<EpochResult, "saved"> = { rows, chains: [], counts, open: [] };
  let saved = 0;
  for (const [task, groups] of shares(topology.keyGroups, tasks?.keyed ?? 1).entries()) {
    const state = await store.load("test", topology, 1, groups, chains);
    const stage = new KeyedStage(environment, 1, state);
    for (const [from, partials] of shuffles.entries()) {
      const read =
        tasks === undefined
          ? partials
          : await shuffled(objects, `e${epoch}-s${from}-${task}`, partials, topology, groups);
      for (const subRange of read) stage.merge(subRange);
    }
    for (const _ of stage.fire(after));
    counts.push(stage.counts);
    result.open.push(stage.openWindows());
    result.chains.push(...(await store.save(state, `e${epoch}-t${task}-of-${tasks?.keyed ?? "fused"}`)));
    saved += state.savedBytes();
  }
  return { ...result, saved };
}

function runSubRange(stage: SourceStage, { partition, batches }: TestSubRange, more: boolean): Partials {
  stage.begin(partition);
  for (const batch of batches) stage.process(batch);
  return stage.end(more);
}

async function shuffled(
  objects: TestObjects,
  key: string,
  partials: readonly Partials[],
  topology: Topology,
  groups: { from: number; to: number },
): Promise<Partials[]> {
  await objects.put(key, encodePartials(partials, topology.keyGroups));
  return await readPartials((range) => objects.get(key, range), groups, key);
}

/** `[0, count)` in contiguous shares. */
export function shares(count: number, tasks: number): { from: number; to: number }[] {
  return Array.from({ length: tasks }, (_, task) => ({
    from: Math.floor((count * task) / tasks),
    to: Math.floor((count * (task + 1)) / tasks),
  }));
}
