import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CutLimit, PartitionStatus, Source, SourceRange } from "../ports/source.ts";
import type { Engine } from "./engine.ts";
import type { DecidedEpoch, Decision } from "./epoch.ts";
import { newPlan, smallerPlan } from "./plan-ranges.ts";
import type { Policy } from "./policy.ts";

/** Offsets are records, of ten bytes each. */
function sourceOf(
  ends: Record<string, number>,
  highs: Record<string, number> = {},
  marks: Record<string, Partial<PartitionStatus>> = {},
): Source {
  const status = ([id, end]: [string, number]): PartitionStatus => ({
    id,
    identity: id,
    start: 0,
    end,
    high: highs[id] ?? end,
    ...marks[id],
  });
  return {
    offsets: "records",
    discover: async () => Object.entries(ends).map(status),
    cut: async ({ from, to }: SourceRange, { records = 1e9, bytes = 1e9 }: CutLimit) => {
      const taken = Math.max(1, Math.min(to - from, records, Math.floor(bytes / 10)));
      return { to: from + taken, records: taken, bytes: taken * 10 };
    },
    split: async () => [],
    read: async function* () {},
    close: async () => {},
  };
}
const policy: Policy = {
  bounded: true,
  hold: false,
  intervalMs: 1000,
  paceMs: 0,
  adaptive: false,
  records: null,
  parallelism: 1,
  attempts: 3,
  backOffMs: 1,
  fused: false,
  eventBudget: 1000,
  draining: () => false,
};
function engine(source: Source, given: Partial<Policy> = {}, now = 0): Engine {
  const node = { kind: "source", id: "source-1", source: { outOfOrderMs: 0, idleAfterMs: 60_000 } };
  return {
    source,
    policy: { ...policy, ...given },
    clock: { now: () => now },
    topology: { nodes: [node], guarantee: "exactly-once" },
  } as unknown as Engine;
}
function decided(decision: Partial<Decision>): DecidedEpoch {
  return {
    status: "decided",
    epoch: 1,
    plan: { processingTime: 0 },
    plannedAt: 0,
    decision: { counts: {}, ...decision },
  } as unknown as DecidedEpoch;
}
const known = (id: string, position: number, maxEventTime: number | null = null, activeAt = 0) => ({
  id,
  identity: id,
  position,
  maxEventTime,
  activeAt,
});

async function ranges(plan: ReturnType<typeof newPlan>) {
  const made = await plan;
  assert.ok(typeof made === "object" && "partitions" in made, JSON.stringify(made));
  return Object.fromEntries(made.partitions.map(({ id, from, to }) => [id, [from, to]]));
}

describe("what is over", () => {
  const over = { isOver: true } as const;
  const partitions = [known("a", 5, 100), known("b", 5, 200), known("c", 5, 300), known("d", 5, 50), known("e", 3, 50)];
  const source = sourceOf({ a: 5, b: 5, c: 9, d: 5, e: 5 }, {}, { a: over, b: over, d: {}, e: over });
  const plan = (bounded: boolean, now: number) =>
    ranges(newPlan(engine(source, { bounded }, now), decided({ partitions, watermark: 150 })));

  it("is forgotten, unless its event times may still raise the watermark, or it is read", async () => {
    assert.deepEqual(await plan(true, 0), { b: [5, 5], c: [5, 9], d: [5, 5], e: [3, 5] });
  });
  it("is named in the plan, for the ledger to let it go (I1)", async () => {
    const made = await newPlan(engine(source, {}, 0), decided({ partitions, watermark: 150 }));
    assert.ok(typeof made === "object" && "partitions" in made);
    assert.deepEqual(made.forgotten, ["a"]);
  });
  it("goes on where it ended if the source finds more of it (I1)", async () => {
    const grown = sourceOf({ a: 9 }, {}, { a: { start: 5 } });
    const last = decided({ partitions: [known("b", 5, 200)], watermark: 150 });
    assert.deepEqual((await ranges(newPlan(engine(grown), last))).a, [5, 9]);
  });
  it("is kept while it holds the watermark back", async () => {
    assert.deepEqual(Object.keys(await plan(false, 59_999)), ["a", "b", "c", "d", "e"]);
    assert.deepEqual(Object.keys(await plan(false, 60_000)), ["b", "c", "d", "e"]);
  });
  it("what a source remembers besides holds no watermark back", async () => {
    const marks = { "~": { isRecord: true } } as const;
    const made = await newPlan(engine(sourceOf({ a: 3, "~": 0 }, {}, marks), { bounded: false }), undefined);
    assert.ok(typeof made === "object" && "partitions" in made);
    assert.deepEqual(
      made.partitions.map(({ id, idle, isRecord }) => [id, idle, isRecord]),
      [
        ["a", false, undefined],
        ["~", true, true],
      ],
    );
  });
});

describe("newPlan", () => {
  it("takes exactly that many records, shared evenly, the rest from whoever has more", async () => {
    assert.deepEqual(await ranges(newPlan(engine(sourceOf({ a: 100, b: 3, c: 100 }), { records: 20 }), undefined)), {
      a: [0, 9],
      b: [0, 3],
      c: [0, 8],
    });
    assert.deepEqual(await ranges(newPlan(engine(sourceOf({ a: 9, b: 9, c: 9 }), { records: 2 }), undefined)), {
      a: [0, 1],
      b: [0, 1],
      c: [0, 0],
    });
  });
  it("goes on where the last decided epoch ended (I1)", async () => {
    const last = decided({ partitions: [known("a", 40)], watermark: 5 });
    assert.deepEqual(await ranges(newPlan(engine(sourceOf({ a: 100 })), last)), { a: [40, 100] });
  });
  it("closes the open windows of a bounded input at its end, once, unless they are held", async () => {
    const last = (watermark: number) =>
      decided({ partitions: [known("a", 100, 7000)], watermark, openUntil: 9000, nextFire: 9000 });
    const plan = await newPlan(engine(sourceOf({ a: 100 })), last(7000));
    assert.ok(typeof plan === "object" && "advanceTo" in plan && plan.advanceTo === 9000);
    assert.equal(await newPlan(engine(sourceOf({ a: 100 })), last(9000)), "nothing");
    assert.equal(await newPlan(engine(sourceOf({ a: 100 }), { hold: true }), last(7000)), "nothing");
  });
  it("waits while a record is above the last stable offset (I7)", async () => {
    const unbounded = engine(sourceOf({ a: 100 }, { a: 101 }), { bounded: false });
    const last = decided({ partitions: [known("a", 100)], nextFire: null });
    assert.deepEqual(await newPlan(unbounded, last), { wait: 1 });
    for (const [paceMs, wait] of [
      [50, 0.05],
      [10_000, 1],
    ] as const) {
      const paced = { ...unbounded, policy: { ...unbounded.policy, paceMs } };
      assert.deepEqual(await newPlan(paced, last), { wait });
    }
  });
  it("waits while a window would fire once a partition is idle, and then plans an epoch of empty ranges (I7)", async () => {
    const partitions = [known("a", 100, 9000, 0), known("b", 0, null, 0)];
    const last = decided({ partitions, watermark: null, nextFire: 8000, openUntil: 10000 });
    const at = (now: number) => newPlan(engine(sourceOf({ a: 100, b: 0 }), { bounded: false }, now), last);
    assert.deepEqual(await at(10_000), { wait: 50 });
    assert.deepEqual(await ranges(at(60_000)), { a: [100, 100], b: [0, 0] });
  });
  it("remembers at once a start that is true now only, even if there is nothing to read (I1)", async () => {
    const latest = (end: number): Source => ({
      ...sourceOf({ a: end }),
      discover: async () => [{ id: "a", identity: "a", start: end, momentary: true, end, high: end }],
    });
    assert.deepEqual(await ranges(newPlan(engine(latest(7), { bounded: false }), undefined)), { a: [7, 7] });
    const last = decided({ partitions: [known("a", 7)], nextFire: null });
    assert.equal(await newPlan(engine(latest(7), { bounded: false }), last), "nothing");
    assert.deepEqual(await ranges(newPlan(engine(latest(9), { bounded: false }), last)), { a: [7, 9] });
  });
  it("paces small epochs of a stream, but not full ones", async () => {
    const last = { ...decided({ partitions: [known("a", 0)], nextFire: null }), plannedAt: 1000 } as DecidedEpoch;
    const at = (now: number, records: number | null) =>
      newPlan(engine(sourceOf({ a: 10 }), { bounded: false, paceMs: 500, records }, now), last);
    assert.deepEqual(await at(1100, null), { wait: 0.4 });
    assert.deepEqual(await ranges(at(1500, null)), { a: [0, 10] });
    assert.deepEqual(await ranges(at(1100, 5)), { a: [0, 5] });
  });
  it("notes what it has seen beyond its ranges", async () => {
    const plan = await newPlan(engine(sourceOf({ a: 10, b: 1 }, { a: 12 }), { records: 5 }), undefined);
    assert.ok(typeof plan === "object" && "partitions" in plan);
    assert.deepEqual(
      plan.partitions.map(({ id, to, seen }) => ({ id, to, seen })),
      [
        { id: "a", to: 4, seen: { end: 10, high: 12 } },
        { id: "b", to: 1, seen: undefined },
      ],
    );
  });
  it("does not let the plan's time go back with the clock", async () => {
    const last = { ...decided({ partitions: [known("a", 0)] }), plan: { processingTime: 5000 } } as DecidedEpoch;
    const plan = await newPlan(engine(sourceOf({ a: 1 }), {}, 1000), last);
    assert.ok(typeof plan === "object" && "processingTime" in plan && plan.processingTime === 5000);
  });
});

describe("smallerPlan", () => {
  it("halves every range, keeps its start and at least one record (I1)", async () => {
    const source = sourceOf({ a: 100 });
    const plan = await newPlan(engine(source), undefined);
    assert.ok(typeof plan === "object" && "partitions" in plan);
    let smaller = plan;
    for (let round = 0; round < 10; round++) smaller = await smallerPlan(source, smaller);
    assert.equal(smaller.partitions[0]?.from, 0);
    assert.equal(smaller.partitions[0]?.to, 1);
  });
});
