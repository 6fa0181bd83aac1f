import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Deadline } from "./deadline.ts";

const never = () => new Promise<never>(() => {});
const late = () => new Error("late");

test("a race gives what the promise gives, if it comes in time", async () => {
  const deadline = new Deadline(60_000);
  assert.equal(await deadline.race(sleep(1, "done"), late), "done");
  await assert.rejects(deadline.race(Promise.reject(new Error("broken")), late), { message: "broken" });
  await assert.rejects(new Deadline(5).race(never(), late), { message: "late" });
  await assert.rejects(new Deadline(5).sleep(60_000, late), { message: "late" });
});

test("a signal ends a race with its reason, also one that was given before", async () => {
  const abort = new AbortController();
  const race = new Deadline(60_000, abort.signal).race(never(), late);
  abort.abort(new Error("enough"));
  await assert.rejects(race, { message: "enough" });
  await assert.rejects(new Deadline(60_000, abort.signal).race(never(), late), { message: "enough" });
});

test("what fails after a race is over is nobody's concern", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await assert.rejects(new Deadline(1).race(promise, late), { message: "late" });
  const aborted = Promise.withResolvers<never>();
  await assert.rejects(new Deadline(60_000, AbortSignal.abort()).race(aborted.promise, late), { name: "AbortError" });
  // An unhandled rejection would fail the test.
  reject(new Error("afterwards"));
  aborted.reject(new Error("afterwards"));
  await sleep(1);
});
