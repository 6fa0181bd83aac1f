import assert from "node:assert/strict";
import { test } from "node:test";
import type { DecidedEpoch } from "../shared/epoch/epoch.ts";
import { ThreadChoice } from "./thread-choice.ts";

const intervalMs = 1000;
const threads = 4;

/** An epoch of the given speed, in bytes a millisecond, which took as long as it should, or `tookMs`. */
function epochOf(epoch: number, tasks: number, rate: number, tookMs = intervalMs): DecidedEpoch {
  const decision = { kind: "process", counts: { bytes: rate * tookMs }, decidedAt: 5000 + tookMs };
  return { epoch, status: "decided", plannedAt: 5000, attemptPlan: { tasks: [tasks, tasks] }, decision } as never;
}

/** How many threads each epoch has, where so many are as fast as `rateOf` says. */
function run(choice: ThreadChoice, epochs: number, rateOf: (tasks: number, epoch: number) => number, from = 1) {
  const chosen: number[] = [];
  let last: DecidedEpoch | undefined;
  for (let epoch = from; epoch < from + epochs; epoch++) {
    const tasks = choice.choose(threads, last);
    chosen.push(tasks);
    last = epochOf(epoch, tasks, rateOf(tasks, epoch));
  }
  return chosen;
}

test("begins with one thread, prepares all when it is warm, and goes on with them if they are faster", () => {
  let prepared = 0;
  const choice = new ThreadChoice(intervalMs, () => prepared++);
  const chosen = run(choice, 12, (tasks, epoch) => (tasks === 1 ? Math.min(300, epoch * 100) : 500));
  assert.deepEqual(chosen, [1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4]);
  assert.equal(prepared, 1);
});

test("goes back to one if all are no faster, and tries again much later", () => {
  const choice = new ThreadChoice(intervalMs);
  const rateOf = (tasks: number, epoch: number) => (tasks === 1 || epoch > 50 ? 100 * tasks : 105);
  const chosen = run(choice, 80, rateOf);
  assert.deepEqual(chosen.slice(0, 10), [1, 1, 1, 1, 4, 4, 4, 1, 1, 1]);
  assert.ok(chosen.slice(10, 60).every((tasks) => tasks === 1));
  assert.ok(
    chosen.slice(70).every((tasks) => tasks === threads),
    "they are faster by now",
  );
});

test("what takes one thread much longer than an epoch should is shared at once", () => {
  const choice = new ThreadChoice(intervalMs);
  choice.choose(threads, undefined);
  assert.equal(choice.choose(threads, epochOf(1, 1, 1, 30_000)), 1, "they are made ready meanwhile");
  assert.equal(choice.choose(threads, epochOf(2, 1, 1, 15_000)), threads);
});

test("one thread that has time to spare stays alone, and small epochs tell nothing", () => {
  const choice = new ThreadChoice(intervalMs);
  for (let epoch = 1; epoch < 20; epoch++) assert.equal(choice.choose(threads, epochOf(epoch, 1, 100, 300)), 1);
  for (let epoch = 20; epoch < 40; epoch++) assert.equal(choice.choose(1, epochOf(epoch, 1, 1)), 1);
  assert.equal(choice.choose(threads, epochOf(40, 1, 1)), 1);
});
