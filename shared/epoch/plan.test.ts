import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../adapters/memory/ledger.ts";
import { ackOf, begin, decisionOf, first, planned, planOf, unitOf } from "../testing/ledger/examples.ts";
import type { Engine } from "./engine.ts";
import { plan } from "./plan.ts";

const paceMs = 1000;
const plannedAt = 5000;

/** What Plan answers at a time after epoch 1 was decided, and how often it looked at the source; `end` is what that plan had seen. */
async function planAt(now: number, { end = 10, bounded = false } = {}) {
  const ledger = new MemoryLedger();
  await begin(ledger);
  const [partition] = planOf(1).partitions;
  const seen = { ...planOf(1), partitions: [{ ...partition!, seen: { end, high: end } }] };
  const id = await planned(ledger, 1, { plan: seen, now: plannedAt });
  await ledger.ack(id, ackOf("n"));
  await ledger.decide(id, { decision: await decisionOf(ledger, 1), units: [unitOf("0")], ackCount: 1 });
  let looks = 0;
  const engine = {
    ledger,
    uid: first.uid,
    fingerprint: first.fingerprint,
    topology: { name: first.pipeline, sinks: {}, stages: [{ sinks: [] }], nodes: [], guarantee: "exactly-once" },
    policy: { paceMs, bounded, eventBudget: 20_000, parallelism: 1, draining: () => false },
    clock: { now: () => now },
    source: {
      discover: async () => {
        looks++;
        throw new Error("nothing is known of it");
      },
    },
  } as unknown as Engine;
  const answer = await plan(engine, { run: 1 });
  assert.equal(answer.action, "work");
  assert.ok(answer.action === "work" && answer.commit?.epoch === 1 && answer.process === undefined);
  return looks;
}

test("what is decided is committed before the source is asked for what is not due yet", async () => {
  assert.equal(await planAt(plannedAt + paceMs - 1), 0);
});

test("the source is asked beside the commit once an epoch is due, or if the last one left something", async () => {
  assert.equal(await planAt(plannedAt + paceMs), 1);
  assert.equal(await planAt(plannedAt + 1, { end: 11 }), 1);
  assert.equal(await planAt(plannedAt + 1, { bounded: true }), 1);
});
