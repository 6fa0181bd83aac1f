import fc from "fast-check";
import type { ChainRun } from "../epoch/epoch.ts";
import type { Topology } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { encodeKey, hashKey, keyGroupOf } from "../state/key-codec.ts";
import { StateStore } from "../state/state-store.ts";
import { batchOf, type EpochResult, runEpoch, TestObjects, type TestSubRange } from "./test-support.ts";

export interface Value {
  readonly key: string;
  readonly time: number;
  readonly amount: number;
}

/** The sub-ranges of an epoch, each with its records, and W(n) after it. */
export interface Epoch {
  readonly subRanges: readonly (readonly Value[])[];
  readonly step: number;
}

export const value = fc.record<Value>({
  key: fc.constantFrom("a", "b", "c", "d", "e", "", "__proto__", "é"),
  time: fc.integer({ min: -30, max: 80 }),
  // Sums of these depend on the order in which they are added.
  amount: fc.constantFrom(0.1, 0.2, 0.3, 1e16, -1e16, 1, 13),
});
export const epochs = fc.array(
  fc.record<Epoch>({
    subRanges: fc.array(fc.array(value, { maxLength: 15 }), { maxLength: 4 }),
    step: fc.integer({ min: 0, max: 25 }),
  }),
  { minLength: 1, maxLength: 5 },
);

export const keyGroups = 5;

type Tasks = { source: number; keyed: number } | undefined;

export interface Choices {
  /** Records a batch. */
  readonly batch: number;
  readonly tasks: (epoch: number) => Tasks;
  /** Whether an epoch begins without warm state. */
  readonly cold: (epoch: number) => boolean;
  /** No sub-range is added to another before the shuffle. */
  readonly apart?: boolean;
}

export async function runAll(
  topology: Topology,
  list: readonly Epoch[],
  { batch, tasks, cold, apart = false }: Choices,
): Promise<EpochResult[]> {
  const objects = new TestObjects();
  let store = new StateStore(objects);
  const results: EpochResult[] = [];
  let chains: ChainRun[] = [];
  for (const [epoch, { before, after }] of watermarks(list).entries()) {
    if (cold(epoch)) store = new StateStore(objects);
    const share = tasks(epoch);
    const subRanges = list[epoch]!.subRanges.map((values) => inBatches(values, batch));
    const result = await runEpoch(topology, store, objects, {
      epoch,
      subRanges,
      before,
      after,
      chains,
      apart,
      ...(share && { tasks: share }),
    });
    results.push(result);
    chains = result.chains;
  }
  return results;
}

function inBatches(values: readonly Value[], size: number): TestSubRange {
  const records = values.map((one) => ({ value: JSON.stringify(one), timestamp: one.time }));
  const starts = Array.from({ length: Math.ceil(records.length / size) }, (_, at) => at * size);
  return { partition: "p", batches: starts.map((start) => batchOf(records.slice(start, start + size), start * 10)) };
}

export function watermarks(list: readonly Epoch[]): { before: number | null; after: number | null }[] {
  let before: number | null = null;
  return list.map(({ step }) => {
    const after: number | null = before === null && step === 0 ? null : (before ?? -30) + step;
    const pair = { before, after };
    before = after;
    return pair;
  });
}

export const alone: Choices = { batch: 1000, tasks: () => undefined, cold: () => false };

/** Where a key stands in the order of output. */
export function placeOf(key: string): { group: number; bytes: string } {
  const writer = new ByteWriter();
  encodeKey(writer, key);
  return {
    group: keyGroupOf(hashKey(writer.bytes, 0, writer.length), keyGroups),
    bytes: writer.view().toString("hex"),
  };
}
