/**
 * What is kept of the past does not grow with it: ledger, snapshots, staged files and manifests of a pipeline that has done 100,000 epochs are those of one that has done a few thousand.
 * (Peers: Spark's `_spark_metadata`, whose compact file lists every file that was ever written, SPARK-24295; Kafka's own `__consumer_offsets`, KAFKA-5413.)
 *
 * A change runs 2,600 epochs; `EPOCHFLOW_TEST_EPOCHS=100000` all of them, on a disk in memory in about a quarter of an hour.
 */
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { statePaths } from "../../local/compose.ts";
import { run } from "../../local/run.ts";
import { count, files, pipeline, tumbling } from "../../shared/index.ts";
import { folderOf, readTree } from "../support/folder.ts";
import { readHead } from "../support/inspect.ts";

const epochs = Number(process.env.EPOCHFLOW_TEST_EPOCHS ?? 2600);
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
