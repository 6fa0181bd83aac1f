import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Ledger } from "../../ports/ledger.ts";
import {
  ackOf,
  begin,
  committed,
  decided,
  decisionOf,
  planned,
  planWrite,
  unitOf,
} from "../../testing/ledger/examples.ts";
import { ledgerConformance } from "../../testing/ledger-conformance.ts";
import { SqliteLedger } from "./ledger.ts";

ledgerConformance("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-ledger-"));
  const all: Ledger[] = [];
  const another = async () => {
    const ledger = new SqliteLedger(join(folder, "ledger.db"));
    all.push(ledger);
    return ledger;
  };
  const dispose = async () => {
    for (const ledger of all) await ledger.close();
    await rm(folder, { recursive: true });
  };
  return { ledger: await another(), another, dispose };
});

/** A test with a folder of its own. */
function inFolder(title: string, body: (file: string) => Promise<void>): void {
  test(`SqliteLedger: ${title}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "epochflow-ledger-"));
    try {
      await body(join(folder, "ledger.db"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

async function filled(file: string, epochs: number): Promise<void> {
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  for (let epoch = 1; epoch <= epochs; epoch++) await committed(ledger, epoch);
  await ledger.close();
}

inFolder("what was written is there after closing and opening", async (file) => {
  await filled(file, 3);
  const ledger = new SqliteLedger(file);
  assert.equal((await ledger.head())?.committed, 3);
  await ledger.close();
});

inFolder("a transaction that fails leaves nothing behind, and the next one works", async (file) => {
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  const id = await planned(ledger, 1);
  await ledger.ack(id, ackOf("one"));
  // Fails when row and HEAD are written already, and one unit, too.
  const units = [unitOf("0"), { ...unitOf("1"), unit: 1n as never }];
  const decision = await decisionOf(ledger, 1, { units });
  await assert.rejects(ledger.decide(id, { decision, units, ackCount: 1 }), TypeError);
  assert.equal((await ledger.head())?.decided, 0);
  assert.equal((await ledger.epoch(1))?.status, "planned");
  assert.deepEqual(await ledger.plan(planWrite(1, { seen: 1 })), { outcome: "planned", attempt: 2 });
  await ledger.close();
});

inFolder("a file that is no database is a loss that names it", async (file) => {
  await writeFile(file, "no database, but rather a text that is a good deal longer than the header of one".repeat(20));
  const before = await readFile(file);
  assert.throws(() => new SqliteLedger(file), { name: "LossError", code: "ledger-damaged", place: { file } });
  assert.deepEqual(await readFile(file), before);
});

inFolder("somebody else's database is refused, and not touched", async (file) => {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
  database.close();
  const before = await readFile(file);
  assert.throws(() => new SqliteLedger(file), { name: "LossError", code: "ledger-foreign", place: { file } });
  assert.deepEqual(await readFile(file), before);
});

inFolder("a later format is refused, and says what to do", async (file) => {
  await filled(file, 1);
  const database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 2");
  database.close();
  assert.throws(() => new SqliteLedger(file), { name: "UsageError", code: "ledger-format", message: /format 2/ });
});

inFolder("a file cut short, or overwritten in the middle, is a loss", async (file) => {
  await filled(file, 30);
  const whole = await readFile(file);
  const use = async () => {
    const ledger = new SqliteLedger(file);
    try {
      await ledger.epochs({ from: 1, to: 30 });
    } finally {
      await ledger.close();
    }
  };
  await use();
  await truncate(file, 4096 * 3);
  await assert.rejects(use(), { code: "ledger-damaged", place: { file } });
  await writeFile(file, whole);
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(whole.length - 4096, 0xaa), 0, undefined, 4096);
  await handle.close();
  await assert.rejects(use(), { code: "ledger-damaged", place: { file } });
});

inFolder("an item that is no JSON is a loss that names it", async (file) => {
  await filled(file, 1);
  const database = new DatabaseSync(file);
  database.exec("UPDATE item SET value = substr(value, 1, 20) WHERE key = 'HEAD'");
  database.close();
  const ledger = new SqliteLedger(file);
  await assert.rejects(ledger.head(), { code: "ledger-damaged", message: /HEAD/ });
  await ledger.close();
});

inFolder("a missing folder, or a folder in the file's place, cannot be opened", async (file) => {
  for (const path of [join(file, "ledger.db"), join(file, "..")])
    assert.throws(() => new SqliteLedger(path), {
      kind: "infrastructure",
      code: "not-permitted",
      place: { file: path },
    });
});

inFolder("commits are synced, and readers do not wait for a writer", async (file) => {
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  await decided(ledger, 1);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE; UPDATE item SET value = '{}'");
  assert.equal((await ledger.head())?.decided, 1);
  other.exec("ROLLBACK");
  assert.deepEqual({ ...other.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" });
  other.close();
  await ledger.close();
});
