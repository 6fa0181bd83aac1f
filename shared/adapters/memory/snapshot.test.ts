import assert from "node:assert/strict";
import { test } from "node:test";
import { ackOf, begin, committed, decisionOf, planned, unitOf } from "../../testing/ledger/examples.ts";
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

test("MemoryLedger: a verb that fails half-way changes nothing", async () => {
  const ledger = new MemoryLedger();
  await begin(ledger);
  const id = await planned(ledger, 1);
  await ledger.ack(id, ackOf("one"));
  const before = new Map(ledger.items);
  const units = [unitOf("0"), { ...unitOf("1"), unit: 1n as never }];
  const decision = await decisionOf(ledger, 1, { units });
  await assert.rejects(ledger.decide(id, { decision, units, ackCount: 1 }), TypeError);
  assert.deepEqual(ledger.items, before);
});
