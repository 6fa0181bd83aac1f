import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, committed, planned, planOf, planWrite, refusedBy } from "../../testing/ledger/examples.ts";
import { MemoryLedger } from "./ledger.ts";

test("MemoryLedger: a copy of its items is a snapshot, which lives its own life", async () => {
  const ledger = new MemoryLedger();
  await begin(ledger);
  await committed(ledger, 1);
  const copy = new MemoryLedger(new Map(ledger.items));
  await committed(ledger, 2);
  assert.equal((await copy.head())?.decided, 1);
  await planned(copy, 2);
  assert.equal((await ledger.epoch(2))?.status, "decided");
});

test("MemoryLedger: a verb that fails changes nothing", async () => {
  const ledger = new MemoryLedger();
  await begin(ledger);
  await planned(ledger, 1);
  const before = new Map(ledger.items);
  await refusedBy("I1", ledger.plan(planWrite(1, { seen: 1, plan: planOf(1, { to: 99 }) })));
  assert.deepEqual(ledger.items, before);
});
