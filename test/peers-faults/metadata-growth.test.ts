/**
 * What is kept of the past does not grow with it: ledger, snapshots, staged files and manifests of a pipeline that has done 100,000 epochs are those of one that has done a few thousand.
 * (Peers: Spark's `_spark_metadata`, whose compact file lists every file that was ever written, SPARK-24295; Kafka's own `__consumer_offsets`, KAFKA-5413.)
 *
 * A change runs 2,600 epochs, twice: as the runner does, and by the protocol's verbs alone, of which `EPOCHFLOW_TEST_EPOCHS=100000` makes 100,000 in some minutes:
 * `node --conditions=epochflow-source --test --test-name-pattern=verbs test/peers-faults/metadata-growth.test.ts`
 */
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { statePaths } from "../../local/compose.ts";
import { run } from "../../local/run.ts";
import { createFilesSink } from "../../shared/adapters/filesystem/sink.ts";
import { ManualClock } from "../../shared/adapters/memory/clock.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import { SqliteLedger } from "../../shared/adapters/sqlite/ledger.ts";
import { collect as collectGarbage } from "../../shared/epoch/collect.ts";
import { commit, seal } from "../../shared/epoch/commit.ts";
import { decide } from "../../shared/epoch/decide.ts";
import type { Engine } from "../../shared/epoch/engine.ts";
import { fused, type Steps } from "../../shared/epoch/fused.ts";
import { operate } from "../../shared/epoch/operate.ts";
import { plan } from "../../shared/epoch/plan.ts";
import { count, files, pipeline, tumbling } from "../../shared/index.ts";
import { describe } from "../../shared/pipeline/describe.ts";
import { fingerprint } from "../../shared/pipeline/fingerprint.ts";
import { recordBatch } from "../../shared/ports/record-batch.ts";
import type { Source } from "../../shared/ports/source.ts";
import { StateStore } from "../../shared/state/state-store.ts";
import { collect } from "../../shared/testing/collect.ts";
import { folderOf, readTree } from "../support/folder.ts";
import { readHead } from "../support/inspect.ts";

const epochs = 2600;
const many = Number(process.env.EPOCHFLOW_TEST_EPOCHS ?? epochs);
/** Epochs that `epochflow epochs` can show, and epochs of an index of manifests. */
const history = 1000;
/** All growth of a pipeline is over by then: rows of the history are replaced, and the chains of snapshots are written anew. */
const settled = 1300;

test(`${epochs} epochs leave no more behind than ${settled}`, { timeout: 100 * epochs + 120_000 }, async (context) => {
  const folder = folderOf(context);
  const [input, output, state] = ["input", "output", "state"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const keyed = pipeline("long")
    .from(files.source({ path: input, value: (line) => Number(line), timestamp: (time) => time }))
    .keyBy((time) => time % 7);
  keyed
    .window(tumbling(40))
    .aggregate({ n: count() })
    .to(files.sink({ path: output }), { id: "windows" });
  const running = keyed
    .aggregate({ n: count() })
    .filter(({ n }) => n % 20 === 0)
    .to(files.sink({ path: join(folder, "running") }), { id: "running" });

  let written = 0;
  const runTo = async (end: number) => {
    const lines = Array.from({ length: end - written }, (_, at) => `${written + at}\n`);
    appendFileSync(input, lines.join(""));
    written = end;
    const { outcome } = await run(running, { state, parallelism: 1, epochRecords: 1, hold: true });
    assert.equal(outcome, "done");
    return await measure(state, output);
  };
  const before = await runTo(settled);
  context.diagnostic(`after ${settled}: ${JSON.stringify(before)}`);
  const after = await runTo(epochs);
  context.diagnostic(`after ${epochs}: ${JSON.stringify(after)}`);

  assert.equal(after.decided, epochs);
  assert.equal(after.staged, 0);
  assert.ok(after.rows <= before.rows + 100, "rows of the ledger");
  // A longer run lets more rows be there at once, before a sweep, and SQLite keeps what they took.
  assert.ok(after.ledgerBytes <= 1.5 * before.ledgerBytes, "bytes of the ledger");
  assert.ok(after.largestRow <= before.largestRow + 100, "bytes of a row");
  assert.ok(after.objects <= before.objects + 20, "snapshots");
  assert.ok(after.objectBytes <= 1.5 * before.objectBytes, "bytes of snapshots");
  // One line for each epoch with output is there for good, as is its file; they lie in a file for each thousand epochs.
  assert.ok(after.manifests <= 2 * history, "single manifests");
  assert.ok(after.indexes <= epochs / history, "indexes");
});

async function measure(state: string, output: string) {
  const { ledger, objects } = statePaths(state);
  const database = new DatabaseSync(ledger, { readOnly: true });
  const numberOf = (sql: string) => Number(Object.values(database.prepare(sql).get()!)[0]);
  const rows = numberOf("SELECT count(*) FROM item");
  const largestRow = numberOf("SELECT max(length(value)) FROM item");
  database.close();
  const sizes = [...readTree(objects).values()].map(({ length }) => length);
  const manifests = readdirSync(join(output, ".epochflow", "manifests"));
  return {
    decided: (await readHead(state))!.decided,
    rows,
    largestRow,
    ledgerBytes: statSync(ledger).size,
    objects: sizes.length,
    objectBytes: sizes.reduce((sum, size) => sum + size, 0),
    staged: readdirSync(join(output, ".epochflow", "staging")).length,
    manifests: manifests.filter((name) => name.endsWith(".json")).length,
    indexes: manifests.filter((name) => name.endsWith(".jsonl")).length,
  };
}

/** One partition, in which record n is the number n, at time n. */
const numbers = (count: number): Source => ({
  offsets: "records",
  discover: async () => [{ id: "p", identity: "p", start: 0, end: count, high: count }],
  cut: async ({ from }) => ({ to: from + 1, records: 1, bytes: 8 }),
  split: async () => [],
  async *read({ from, to }) {
    yield recordBatch([{ offset: from, value: String(from) }], to);
  },
  close: async () => {},
});

test(`${many} epochs of the protocol's verbs leave no more behind than ${settled}`, {
  timeout: 20 * many + 120_000,
}, async (context) => {
  const folder = folderOf(context);
  const keyed = pipeline("long")
    .from(files.source({ path: "in", value: (line) => Number(line), timestamp: (time) => time }))
    .keyBy((time) => time % 7);
  keyed
    .window(tumbling(200))
    .aggregate({ n: count() })
    .to(files.sink({ path: folder }), { id: "out" });
  const topology = describe(
    keyed
      .aggregate({ n: count() })
      .filter(() => false)
      .to(files.sink({ path: folder }), { id: "none" }),
  );
  const ledger = new SqliteLedger(join(folder, "ledger.db"));
  const objects = new MemoryObjectStore();
  const sinks = {
    out: createFilesSink({ path: join(folder, "out") }),
    none: createFilesSink({ path: join(folder, "none") }),
  };
  let nonces = 0;
  const engine: Engine = {
    ...{ topology, fingerprint: JSON.stringify(fingerprint(topology)), codeDigest: "c", uid: "u", ledger, objects },
    source: numbers(many),
    sink: (id) => sinks[id as keyof typeof sinks],
    state: new StateStore(objects),
    executions: { start: async () => "started", describe: async () => "running" },
    clock: new ManualClock(),
    random: { nonce: () => `n${nonces++}` },
    policy: {
      ...{ bounded: true, hold: true, adaptive: false, fused: true, records: 1, parallelism: 1, intervalMs: 1000 },
      ...{ paceMs: 0, attempts: 1, backOffMs: 0, eventBudget: Number.MAX_SAFE_INTEGER, draining: () => false },
    },
  };
  await ledger.open({ pipeline: "long", uid: "u", fingerprint: engine.fingerprint });
  const run = (await ledger.grant({ owner: null, run: 0 }))!;
  const measured: { rows: number; bytes: number; objects: number; largest: number }[] = [];
  const steps: Steps = {
    plan: (sleepsSeconds) => plan(engine, { run, fused: { sleepsSeconds } }),
    operate: (name) => operate(engine, name),
    decide: async (id) => ({ outcome: await decide(engine, id) }),
    commit: async ({ epoch, sink }) => {
      if (sink !== undefined) return await commit(engine, { epoch, sink });
      await seal(engine, { epoch });
      if (epoch % 100 === 0) await collectGarbage(engine, { checkpoints: 3, history });
      if (epoch !== settled && epoch !== many) return;
      const sizes = rowSizes(join(folder, "ledger.db"));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      const keys = await collect(objects.list(""));
      measured.push({ rows: sizes.length, bytes, objects: keys.length, largest: Math.max(...sizes) });
    },
    abort: () => assert.fail("nothing goes wrong"),
  };
  const forEver = { spanMs: Number.MAX_SAFE_INTEGER, mostSecondsToSleep: 5 };
  assert.equal((await fused(steps, engine.clock, await steps.plan(5), forEver)).action, "end");
  const [before, after] = measured;
  context.diagnostic(`after ${settled}: ${JSON.stringify(before)}; after ${many}: ${JSON.stringify(after)}`);
  assert.equal((await ledger.head())!.committed, many);
  assert.ok(after!.rows <= before!.rows + 100, "rows of the ledger");
  assert.ok(after!.bytes <= 1.2 * before!.bytes, "bytes of the ledger");
  assert.ok(after!.largest <= before!.largest + 100, "bytes of a row");
  assert.ok(after!.objects <= before!.objects + 20, "snapshots");
  assert.deepEqual(readdirSync(join(folder, "none", ".epochflow", "manifests")), []);
});

function rowSizes(file: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("SELECT length(value) AS size FROM item").all();
  database.close();
  return rows.map(({ size }) => Number(size));
}
