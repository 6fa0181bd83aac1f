import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../shared/adapters/memory/ledger.ts";
import type { PlanAnswer } from "../shared/epoch/plan.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import type { RecordBatch, Source } from "../shared/ports/source.ts";
import { first } from "../shared/testing/ledger/examples.ts";
import { emittedMetrics, lives, losingLife, type MetricsLine } from "../test/support/emitted-metrics.ts";
import {
  type MetricName,
  metricUnits,
  observeDecision,
  observeLag,
  observePlan,
  observeStatus,
  observeTimeLag,
} from "./metrics.ts";

/** All values of a metric. */
const valuesOf = (lines: readonly MetricsLine[], metric: MetricName): number[] =>
  lines.flatMap((line) => (line[metric] as number | number[] | undefined) ?? []);

for (const life of lives)
  test(`a run emits every metric, by its unit and the pipeline's name: ${JSON.stringify(life)}`, async () => {
    const lines = await emittedMetrics(life);
    const emitted = new Map<string, string>();
    for (const { Namespace, Dimensions, Metrics } of lines.flatMap((line) => line._aws.CloudWatchMetrics)) {
      assert.deepEqual([Namespace, Dimensions], ["epochflow", [["service"]]]);
      assert.ok(Metrics.length <= 100);
      for (const { Name, Unit } of Metrics) emitted.set(Name, Unit);
    }
    const other = life.onError === "skip" ? "DeadLetteredRecords" : "SkippedRecords";
    // Nothing is lost here: see below.
    const absent = [other, "EpochsLost", "TasksLost", "RowsLost"];
    const expected = Object.entries(metricUnits).filter(([metric]) => !absent.includes(metric));
    assert.deepEqual(Object.fromEntries([...emitted].sort()), Object.fromEntries(expected.sort()));
    assert.ok(lines.every((line) => line.service === "metered"));

    const values = (metric: MetricName) => valuesOf(lines, metric);
    assert.deepEqual(values("RecordsIn"), [3, 3]);
    assert.deepEqual(values("RowsOut"), [2, life.onError === "skip" ? 1 : 2]);
    assert.deepEqual([...values("LateRecords"), ...values("DeadLetteredRecords"), ...values("SkippedRecords")], [1, 1]);
    assert.deepEqual(
      [values("EpochsDecided"), values("EpochsCommitted")],
      [
        [1, 1],
        [1, 1],
      ],
    );
    assert.deepEqual([values("AttemptsAborted"), values("FailuresInARow"), values("CommitFailures")], [[1], [1], [1]]);
    assert.deepEqual([values("Wakes"), new Set(values("Stopped"))], [[1, 1], new Set([0])]);
    assert.ok(values("StateBytes").every((bytes) => bytes > 0));
    assert.ok(values("TimeLag").every((seconds) => seconds >= 60 && seconds < 120));
    // An epoch's phases make up the whole.
    const phases = (["StartDuration", "OperateDuration", "DecideDuration"] as const).map(values);
    const sums = values("EpochDuration").map((_, epoch) => phases.reduce((sum, phase) => sum + phase[epoch]!, 0));
    assert.deepEqual(sums, values("EpochDuration"));
  });

test("rows that are lost are told by the epoch's decision", async () => {
  const lines = await emittedMetrics(losingLife);
  const [lost, ...more] = ["EpochsLost", "TasksLost", "RowsLost"].map((name) => valuesOf(lines, name as MetricName));
  assert.deepEqual([lost, ...more], [[1], [0], [2]]);
  assert.deepEqual(valuesOf(lines, "EpochsCommitted"), [1, 1]);
});

/** What is observed, in order. */
function recorder() {
  const seen: [MetricName, number][] = [];
  return { seen, observe: (metric: MetricName, value: number) => void seen.push([metric, value]) };
}

const nothing: Source = {
  offsets: "records",
  discover: async () => [],
  cut: async ({ to }) => ({ to, bytes: 0 }),
  split: async () => [],
  read: async function* () {},
  close: async () => {},
};

test("lag is what is written above the positions that are decided", async () => {
  const { seen, observe } = recorder();
  const partition = (id: string, start: number, high: number) => ({ id, identity: id, start, end: high, high });
  const found = [partition("known", 0, 100), partition("new", 5, 8), partition("gone", 0, 30)];
  const source = observeLag({ ...nothing, discover: async () => found }, observe);
  const known = (id: string, position: number) => ({ id, identity: id, position });
  await source.discover([known("known", 90), known("gone", 40)]);
  assert.deepEqual(seen, [["Lag", 10 + 3]]);
});

test("the time lag is that of the first record of a range, unless an older one was told of", async () => {
  const { seen, observe } = recorder();
  const batch = (...written: number[]) => ({ count: written.length, timestamps: Float64Array.from(written) });
  const ranges: Record<string, object[]> = {
    a: [batch(), batch(97_000, 1000), batch(2000)],
    b: [batch(98_000)],
    c: [batch(95_000)],
    unknown: [batch(-1)],
    file: [{ count: 1 }],
    future: [batch(200_000)],
  };
  const clock = { now: () => 100_000, sleep: async () => {} };
  const reads = { ...nothing, read: ({ id }: { id: string }) => ranges[id] as unknown as AsyncIterable<RecordBatch> };
  const source = observeTimeLag(reads, clock, observe);
  for (const id of Object.keys(ranges)) {
    const read = await Array.fromAsync(source.read({ id, identity: id, from: 0, to: 1 }));
    assert.deepEqual(read, ranges[id]);
  }
  assert.deepEqual(seen, [
    ["TimeLag", 3],
    ["TimeLag", 5],
  ]);
  const another = recorder();
  await Array.fromAsync(
    observeTimeLag(reads, clock, another.observe).read({ id: "future", identity: 0, from: 0, to: 1 }),
  );
  assert.deepEqual(another.seen, [["TimeLag", 0]]);
});

test("a pipeline that an error has stopped says so, and one that is paused does not", async () => {
  const ledger = new MemoryLedger();
  await ledger.open(first);
  const { seen, observe } = recorder();
  await observeStatus({ ledger }, observe);
  await ledger.increment(null);
  await ledger.grant({ owner: null, run: 0 });
  await ledger.stop({ kind: "loss", code: "gone", message: "It is gone." }, { owner: 1 });
  await observePlan({ ledger, clock: { now: () => 0, sleep: async () => {} } }, { action: "end" }, observe);
  await ledger.setStatus("running");
  await ledger.setStatus("paused");
  await observeStatus({ ledger }, observe);
  assert.deepEqual(seen, [
    ["Stopped", 0],
    ["Stopped", 1],
    ["Stopped", 0],
  ]);
});

test("a plan tells of a decision that waits for its commit only once it is some seconds old", async () => {
  const row = { status: "decided", committedAt: null, decision: { decidedAt: 1000 } };
  const ledger = { epoch: async () => row } as unknown as Ledger;
  const engine = { ledger, clock: { now: () => 8000, sleep: async () => {} } };
  const commit = (retrySeconds: number): PlanAnswer => ({
    action: "work",
    commit: { epoch: 1, tasks: [], retrySeconds },
  });
  const { seen, observe } = recorder();
  await observePlan(engine, commit(1), observe);
  assert.deepEqual(seen, []);
  await observePlan(engine, commit(2), observe);
  assert.deepEqual(seen, [["UncommittedAge", 7]]);
});

test("lag grows by what an epoch leaves more than the one before did", async () => {
  const counts = { records: 0, bytes: 0, skipped: 0, deadLettered: 0, late: 0, rows: {} };
  const row = (epoch: number, partitions: object[]) => ({
    ...{ epoch, attempt: 1, status: "decided", plannedAt: 0, plan: { partitions } },
    decision: { counts, watermark: null, decidedAt: 0 },
  });
  const rows = [
    row(1, [{ to: 10, seen: { end: 15, high: 15 } }]),
    row(2, [{ to: 20, seen: { end: 20, high: 28 } }, { to: 5 }, { to: 5, seen: { end: 6, high: 6 } }]),
    row(3, [{ to: 28 }, { to: 5 }, { to: 6 }]),
  ];
  const ledger = {
    epoch: async (epoch: number) => rows[epoch - 1],
    acks: async () => [],
  } as unknown as Ledger;
  const { seen, observe } = recorder();
  for (const { epoch } of rows) await observeDecision({ ledger }, { epoch, attempt: 1 }, observe);
  assert.deepEqual(
    seen.filter(([metric]) => metric === "LagGrowth"),
    [
      ["LagGrowth", 8 + 1 - 5],
      ["LagGrowth", -9],
    ],
  );
});

test("what at-most-once loses is told with the decision, or with the plan that cuts an epoch short; and what it decides is committed", async () => {
  const counts = { records: 0, bytes: 0, skipped: 0, deadLettered: 0, late: 0, rows: {} };
  const loss = { shares: [{ stage: 1, task: 0 }], rows: { out: 2, late: 3 } };
  const row = {
    ...{ epoch: 1, attempt: 1, status: "decided", plannedAt: 0, plan: { partitions: [] } },
    attemptPlan: { guarantee: "at-most-once" },
    decision: { counts, watermark: null, decidedAt: 0, loss },
  };
  const ledger = {
    epoch: async (epoch: number) => (epoch === 1 ? row : undefined),
    acks: async () => [],
  } as unknown as Ledger;
  const lost = [
    ["EpochsLost", 1],
    ["TasksLost", 1],
    ["RowsLost", 5],
  ];
  const planning = recorder();
  const clock = { now: () => 0, sleep: async () => {} };
  await observePlan({ ledger, clock }, { action: "again", lost: 1 }, planning.observe);
  assert.deepEqual(planning.seen, lost);
  const deciding = recorder();
  await observeDecision({ ledger }, { epoch: 1, attempt: 1 }, deciding.observe);
  assert.deepEqual(
    deciding.seen.filter(([metric]) => /Lost|Committed/.test(metric)),
    [...lost, ["EpochsCommitted", 1]],
  );
});

test("what cannot be told fails nothing", async () => {
  const throttled = async () => {
    throw new Error("throttled");
  };
  const ledger = { epoch: throttled, acks: throttled } as unknown as Ledger;
  await observeDecision({ ledger }, { epoch: 1, attempt: 1 }, () => {});
});
