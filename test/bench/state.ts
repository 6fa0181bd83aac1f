/**
 * What the state of many keys costs a worker, alone: memory, and what an epoch's snapshot writes and takes when few keys change.
 *
 *     node --conditions=epochflow-source test/bench/state.ts [--keys 10000000] [--windows 1] [--changes 1000] [--epochs 100] [--running]
 *
 * Phases: `build` puts every key into memory, `first snapshot` writes all of them, `epochs` changes some keys, drawn at random, and writes a snapshot each time, and `restore`
 * reads all of it into an empty worker, and checks it. With --running the keys are those of a running aggregation, which has a second column: event times.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { FileSystemObjectStore } from "../../shared/adapters/filesystem/object-store.ts";
import type { ChainRun } from "../../shared/epoch/epoch.ts";
import { count, files, pipeline, seconds, text, tumbling } from "../../shared/index.ts";
import { describe } from "../../shared/pipeline/describe.ts";
import type { ObjectStore } from "../../shared/ports/object-store.ts";
import { ByteWriter } from "../../shared/state/bytes.ts";
import { encodeKey, hashKey } from "../../shared/state/key-codec.ts";
import type { KeyColumn } from "../../shared/state/key-table.ts";
import type { StageState } from "../../shared/state/stage-state.ts";
import { StateStore } from "../../shared/state/state-store.ts";
import { emit, wholeNumber } from "../support/program.ts";

const option = { type: "string" } as const;
const { values } = parseArgs({
  options: { keys: option, windows: option, changes: option, epochs: option, running: { type: "boolean" } },
});
const keys = wholeNumber("keys", values.keys ?? "10000000");
const windows = wholeNumber("windows", values.windows ?? "1");
const changes = wholeNumber("changes", values.changes ?? "1000");
const epochs = wholeNumber("epochs", values.epochs ?? "100");

const keyed = pipeline("state")
  .from(files.source({ path: "input", value: text() }))
  .keyBy((value) => value);
const counted = values.running
  ? keyed.aggregate({ count: count() })
  : keyed.window(tumbling(seconds(10))).aggregate({ count: count() });
const topology = describe(counted.to(files.sink({ path: "output" })));
const all = { from: 0, to: topology.keyGroups };

const folder = mkdtempSync(join(tmpdir(), "epochflow-state-"));
const objects = new FileSystemObjectStore(folder);
let written = 0;
let read = 0;
const counting: ObjectStore = {
  put: (key, chunks, options) => {
    written += chunks.reduce((sum, { length }) => sum + length, 0);
    return objects.put(key, chunks, options);
  },
  get: async (key, range) => {
    const bytes = await objects.get(key, range);
    read += bytes?.length ?? 0;
    return bytes;
  },
  list: (prefix) => objects.list(prefix),
  delete: (names) => objects.delete(names),
};

/** Draws that are the same in each run (a linear congruential generator, Numerical Recipes). */
let seed = 1;
function draw(below: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

/** Keys of about ten bytes. */
function columnOf(numbers: Int32Array): KeyColumn {
  const writer = new ByteWriter(numbers.length * 14);
  const ends = new Int32Array(numbers.length + 1);
  const hashes = new Int32Array(numbers.length);
  for (let index = 0; index < numbers.length; index++) {
    encodeKey(writer, `k${String(numbers[index]).padStart(9, "0")}`);
    ends[index + 1] = writer.length;
    hashes[index] = hashKey(writer.bytes, ends[index]!, writer.length);
  }
  return { count: numbers.length, bytes: writer.view(), ends, hashes };
}

/** Counts each of these keys once, dealt out to the windows by number. */
function add(state: StageState, numbers: Int32Array): void {
  const [operator] = state.operators;
  for (let window = 0; window < windows; window++) {
    const own = windows === 1 ? numbers : numbers.filter((number) => number % windows === window);
    if (own.length === 0) continue;
    const { columns, touch } = bound(state.window(operator!, window * 10_000));
    const located = touch(columnOf(own));
    const counts = columns()[0] as Float64Array;
    for (let index = 0; index < located.length; index++) counts[located[index]!]!++;
  }
}

function bound(window: ReturnType<StageState["window"]>) {
  return { columns: () => window.columns, touch: (keys: KeyColumn) => window.touch({ keys, columns: [] }) };
}

const residentMegabytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20);

async function measured<T>(phase: string, times: number, work: () => Promise<T>): Promise<T> {
  [written, read] = [0, 0];
  const began = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  emit({
    phase,
    ms: (performance.now() - began) / times,
    cpuMs: (user + system) / 1000 / times,
    written: Math.round(written / times),
    read: Math.round(read / times),
    residentMegabytes: residentMegabytes(),
    peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
  });
  return result;
}

let largest = 0;
let chains: ChainRun[] = [];

async function epoch(store: StateStore, number: number, numbers: Int32Array): Promise<void> {
  const state = await store.load("state", topology, 1, all, chains);
  add(state, numbers);
  const before = written;
  chains = await store.save(state, `snapshot-${number}`);
  largest = Math.max(largest, written - before);
}

try {
  let store: StateStore | undefined = new StateStore(counting);
  await measured("build", 1, async () => {
    const state = await store!.load("state", topology, 1, all, chains);
    for (let from = 0; from < keys; from += 500_000)
      add(
        state,
        Int32Array.from({ length: Math.min(500_000, keys - from) }, (_, index) => from + index),
      );
    await measured("first snapshot", 1, async () => {
      chains = await store!.save(state, "snapshot-0");
    });
  });
  await measured("epochs", epochs, async () => {
    largest = 0;
    for (let number = 1; number <= epochs; number++)
      await epoch(
        store!,
        number,
        Int32Array.from({ length: changes }, () => draw(keys)),
      );
  });
  const longest = Math.max(...chains.map((run) => run.objects.length));
  emit({ largestEpochWritten: largest, longestChain: longest, chains: chains.length });
  store = undefined;
  const restored = await measured("restore", 1, () => new StateStore(counting).load("state", topology, 1, all, chains));
  let sum = 0;
  let found = 0;
  for (const window of restored.operators[0]!.windows.values()) {
    found += window.count;
    const counts = window.columns[0] as Float64Array;
    for (let number = 0; number < window.count; number++) sum += counts[number]!;
  }
  if (found !== keys || sum !== keys + epochs * changes) throw new Error(`restored ${found} keys, sum ${sum}`);
  emit({ keys, windows, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
