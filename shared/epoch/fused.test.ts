import assert from "node:assert/strict";
import { test } from "node:test";
import { fused, type Steps } from "./fused.ts";
import type { PlanAnswer, Work } from "./plan.ts";

const processOf = (epoch: number): Required<Work>["process"] => ({
  epoch,
  attempt: 1,
  stages: [{ tasks: [{ epoch, attempt: 1, stage: 0, task: 0 }] }],
});
const commitOf = (epoch: number): Required<Work>["commit"] => ({
  epoch,
  tasks: ["a", "b"].map((sink) => ({ epoch, sink })),
  retrySeconds: 7,
});
const end: PlanAnswer = { action: "end" };

/** Runs it with plans in turn, each of which takes a second. */
async function run(answers: readonly PlanAnswer[], failing: Partial<Steps> = {}, spanMs = 1e9, first?: PlanAnswer) {
  const calls: string[] = [];
  const asked: number[] = [];
  let now = 0;
  const turn = answers.values();
  const step =
    <Input, Answer>(name: string, answer: Answer, instead?: (input: Input) => Promise<Answer>) =>
    async (input: Input): Promise<Answer> => {
      calls.push(`${name} ${Object.values(input as object).join(".")}`);
      return instead ? await instead(input) : answer;
    };
  const steps: Steps = {
    plan: async (sleepsSeconds) => {
      calls.push("plan");
      asked.push(sleepsSeconds);
      now += 1000;
      return turn.next().value ?? end;
    },
    operate: step("operate", {}, failing.operate),
    decide: step("decide", { outcome: "decided" }, failing.decide),
    commit: step("commit", {}, failing.commit),
    abort: step("abort", { outcome: "aborted", waitSeconds: 3 } as const, failing.abort),
  };
  const clock = { now: () => now, sleep: async (ms: number) => void calls.push(`sleep ${ms}`) };
  const answer = await fused(steps, clock, first ?? (await steps.plan(0)), { spanMs, mostSecondsToSleep: 5 });
  return { answer, calls, asked };
}

test("one epoch after the other, each committed while the next is processed", async () => {
  const { answer, calls } = await run([
    { action: "fused", process: processOf(1) },
    { action: "fused", process: processOf(2), commit: commitOf(1) },
    { action: "fused", commit: commitOf(2) },
  ]);
  assert.deepEqual(answer, end);
  assert.deepEqual(calls, [
    ...["plan", "operate 1.1.0.0", "decide 1.1"],
    // Side by side, but a seal comes after the commits, and a decision after its task.
    ...["plan", "commit 1.a", "commit 1.b", "operate 2.1.0.0", "decide 2.1", "commit 1"],
    ...["plan", "commit 2.a", "commit 2.b", "commit 2", "plan"],
  ]);
});

test("short waits are slept, what the machine does better is its own again", async () => {
  const others: PlanAnswer[] = [
    { action: "work", process: processOf(1) },
    { action: "end", start: "successor" },
  ];
  for (const other of others) {
    const { answer, calls } = await run([{ action: "again" }, { action: "wait", seconds: 0.5 }, other]);
    assert.deepEqual(answer, other);
    assert.deepEqual(calls, ["plan", "plan", "sleep 500", "plan"]);
  }
});

test("a long wait is the machine's, and then this goes on: it asks what comes next", async () => {
  const long: PlanAnswer = { action: "wait", seconds: 10 };
  const { answer, asked } = await run([{ action: "again" }, long]);
  assert.deepEqual(answer, { ...long, fused: true });
  assert.deepEqual(asked.slice(1), [5], "the plan knows that it will not be slept, and counts it");
  const later = await run([{ action: "fused", process: processOf(1) }], {}, 1e9, answer);
  assert.deepEqual(later.calls, ["plan", "operate 1.1.0.0", "decide 1.1", "plan"]);
});

test("no wait is slept when the time is over, and the plan knows that", async () => {
  const waits = [1, 2, 3].map((seconds): PlanAnswer => ({ action: "wait", seconds }));
  const { answer, calls, asked } = await run(waits, {}, 1500, { action: "wait", seconds: 9, fused: true });
  assert.deepEqual(answer, { action: "wait", seconds: 3, fused: true });
  assert.deepEqual(calls, ["plan", "sleep 1000", "plan", "sleep 2000", "plan"]);
  assert.deepEqual(asked, [5, 5, 0]);
});

test("no epoch begins when the time is over: it is planned, and the next invocation processes it", async () => {
  const answers = [1, 2, 3].map((epoch): PlanAnswer => ({ action: "fused", process: processOf(epoch) }));
  const { answer, calls } = await run(answers, {}, 2000);
  assert.deepEqual(answer, answers[2]);
  assert.ok(!calls.includes("operate 3.1.0.0"));
});

test("a failed attempt is aborted, and whatever the reason the machine takes over", async () => {
  const failures: Partial<Steps>[] = [
    { operate: () => Promise.reject(new Error("broken")) },
    { decide: async () => ({ outcome: "fenced" }) },
    { decide: () => Promise.reject(new Error("broken")) },
  ];
  for (const failing of failures) {
    const { answer, calls } = await run([{ action: "fused", process: processOf(1), commit: commitOf(0) }], failing);
    assert.deepEqual(answer, { action: "wait", seconds: 3 });
    assert.ok(calls.some((call) => call.startsWith("abort 1.1")));
    assert.ok(calls.includes("commit 0"), "the commit is not disturbed");
    assert.equal(calls.filter((call) => call === "plan").length, 1);
  }
  const superseded = {
    decide: async () => ({ outcome: "fenced" }),
    abort: async () => ({ outcome: "aborted", waitSeconds: 0 }),
  };
  const lost = await run([{ action: "fused", process: processOf(1) }], superseded as Partial<Steps>);
  assert.deepEqual(lost.answer, { action: "wait", seconds: 0 });
});

test("a commit that fails is tried again later, and not sealed; the next epoch is processed", async () => {
  const failing = { commit: () => Promise.reject(new Error("broken")) };
  const { answer, calls } = await run([{ action: "fused", process: processOf(2), commit: commitOf(1) }], failing);
  assert.deepEqual(answer, { action: "wait", seconds: 7 });
  assert.ok(calls.includes("decide 2.1") && !calls.includes("commit 1"));
});

test("a plan or an abort that fails ends it: the next plan goes on from the ledger", async () => {
  const broken = () => Promise.reject(new Error("broken"));
  await assert.rejects(run([{ action: "fused", process: processOf(1) }], { operate: broken, abort: broken }), /broken/);
});
