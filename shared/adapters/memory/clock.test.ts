import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../system/clock.ts";
import { ManualClock } from "./clock.ts";

test("ManualClock: time passes when it is told to, and wakes sleepers in order", async () => {
  const clock = new ManualClock(1000);
  const woken: string[] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now()}`);
  };
  const all = [sleep("late", 30), sleep("soon", 10), sleep("never", -5)];
  await all[2];
  clock.advance(9);
  assert.equal(clock.now(), 1009);
  clock.advance(1);
  await all[1];
  clock.advance(100);
  await all[0];
  assert.deepEqual(woken, ["never at 1000", "soon at 1010", "late at 1110"]);
});

test("systemClock: now is the machine's, and sleep takes at least as long as asked", async () => {
  const before = Date.now();
  await systemClock.sleep(0);
  await systemClock.sleep(20);
  assert(systemClock.now() >= before + 19);
});
