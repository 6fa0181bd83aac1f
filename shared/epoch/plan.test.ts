import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../adapters/memory/ledger.ts";
import { count, files, pipeline, text } from "../index.ts";
import { describe } from "../pipeline/describe.ts";
import { ackOf, begin, decisionOf, first, planned, planOf, unitOf } from "../testing/ledger/examples.ts";
import { TestSource } from "../testing/pipeline/test-source.ts";
import { type Engine, sourceOf } from "./engine.ts";
import { plan } from "./plan.ts";

const topology = describe(
  pipeline(first.pipeline)
    .from(files.source({ path: "/in", value: text() }))
    .keyBy((word) => word)
    .aggregate({ count: count() })
    .to(files.sink({ path: "/out" }), { id: "counts" }),
);
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

test("from one plan to the next it is the pace, and not longer by a look at the source", async () => {
  const ledger = new MemoryLedger();
  await begin(ledger);
  let now = plannedAt;
  const source = new TestSource(sourceOf({ topology } as Engine), 1);
  source.send("a", {}, 0);
  const { discover } = source;
  const engine = {
    ...{ ledger, topology, source, uid: first.uid, fingerprint: first.fingerprint, codeDigest: "code" },
    policy: { paceMs, bounded: false, eventBudget: 20_000, parallelism: 1, draining: () => false },
    clock: { now: () => now },
    sink: () => ({ open: async () => {} }),
  } as unknown as Engine;
  source.discover = async () => {
    now += 7;
    return await discover.call(source);
  };
  assert.equal((await plan(engine, { run: 1 })).action, "work");
  assert.equal((await ledger.epoch(1))!.plannedAt, plannedAt);
});
