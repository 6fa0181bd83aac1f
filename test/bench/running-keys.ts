/**
 * What running aggregates of many keys cost: an epoch of every key, one that makes the base of their state, epochs that touch a few keys, and then one more run, on cold state.
 *
 *     node --conditions=epochflow-source test/bench/running-keys.ts [--keys 1000000] [--touched 1000] [--workers 1] [--expire]
 */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { openLedger } from "../../local/compose.ts";
import { run } from "../../local/run.ts";
import { count, days, files, pipeline, sum } from "../../shared/index.ts";
import { readTree } from "../support/folder.ts";
import { emit, wholeNumber } from "../support/program.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { keys: text, touched: text, workers: text, expire: { type: "boolean" } } });
const keys = wholeNumber("keys", values.keys ?? "1000000");
const touched = wholeNumber("touched", values.touched ?? "1000");
const parallelism = wholeNumber("workers", values.workers ?? "1");
const expire = values.expire ? { expireAfter: days(365) } : {};

const folder = mkdtempSync(join(tmpdir(), "epochflow-running-"));
const input = join(folder, "input");
const state = join(folder, "state");
const definition = pipeline("running")
  .from(files.source({ path: input, value: (line) => line.split(" "), timestamp: ([time]) => Number(time) }))
  .keyBy(([, key]) => key!)
  .aggregate({ count: count(), total: sum(([time]) => Number(time) % 100) }, expire)
  .to(files.sink({ path: join(folder, "output") }));

function append(from: number, to: number): void {
  for (let chunk = from; chunk < to; chunk += 50_000) {
    const length = Math.min(50_000, to - chunk);
    appendFileSync(input, Array.from({ length }, (_, at) => `${chunk + at} user-${(chunk + at) % keys}\n`).join(""));
  }
}

async function measured(what: string, records: number, epochRecords: number): Promise<void> {
  const before = performance.now();
  const cpuBefore = process.cpuUsage();
  const { outcome, error } = await run(definition, { state, parallelism, epochRecords, retain: 1 });
  if (outcome !== "done") throw error;
  const ms = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  const ledger = openLedger(state);
  const { decided } = (await ledger.head())!;
  const acks = await ledger.acks({ epoch: decided, attempt: (await ledger.epoch(decided))!.attempt });
  await ledger.close();
  const stateBytes = acks.reduce((sum, ack) => sum + ack.stateBytes, 0);
  const onDisk = [...readTree(join(state, "objects"))].reduce((sum, [, bytes]) => sum + bytes.length, 0);
  const epochs = Math.ceil(records / epochRecords);
  const cpuMsAnEpoch = (user + system) / 1000 / epochs;
  emit({
    what,
    records,
    epochs,
    ms,
    msAnEpoch: ms / epochs,
    cpuMsAnEpoch,
    stateBytes,
    bytesAKey: stateBytes / keys,
    onDisk,
  });
}

try {
  append(0, keys);
  await measured("every key once", keys, keys);
  append(keys, keys + touched);
  await measured("one epoch of some keys, cold state", touched, touched);
  append(keys + touched, keys + 101 * touched);
  await measured("100 epochs of some keys", 100 * touched, touched);
  emit({ peakBytes: process.resourceUsage().maxRSS * 1024 });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
