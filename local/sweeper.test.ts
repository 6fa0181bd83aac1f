import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { files, pipeline, text } from "../shared/index.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import { runWith } from "./run.ts";
import { Sweeper } from "./sweeper.ts";

const never = Number.MAX_SAFE_INTEGER;

/** Sweeps that take until they are let go. */
function held() {
  const ends: (() => void)[] = [];
  let sweeps = 0;
  const sweep = async () => {
    sweeps++;
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  return { sweep, sweeps: () => sweeps, end: () => ends.shift()!() };
}

test("a sweep every so many epochs, one at a time; the last waits for the one before", async () => {
  const { sweep, sweeps, end } = held();
  const sweeper = new Sweeper(sweep, { epochs: 10, bytes: never, ms: never });
  for (let epoch = 1; epoch < 10; epoch++) sweeper.committed(epoch, 0);
  assert.equal(sweeps(), 0);
  for (let epoch = 10; epoch <= 30; epoch++) sweeper.committed(epoch, 0);
  assert.equal(sweeps(), 1);
  const finished = sweeper.finish();
  await setImmediate();
  assert.equal(sweeps(), 1);
  end();
  await setImmediate();
  assert.equal(sweeps(), 2);
  end();
  await finished;
});

test("and one after so many bytes, which does not begin again soon if it took long", async () => {
  const { sweep, sweeps, end } = held();
  const sweeper = new Sweeper(sweep, { epochs: never, bytes: 100, ms: never });
  sweeper.committed(1, 99);
  assert.equal(sweeps(), 0);
  sweeper.committed(2, 100);
  assert.equal(sweeps(), 1);
  await sleep(30);
  end();
  await setImmediate();
  sweeper.committed(3, 199);
  sweeper.committed(4, 300);
  assert.equal(sweeps(), 1, "it took 30 ms, and the next may come 600 ms later");
  await sleep(800);
  sweeper.committed(5, 300);
  assert.equal(sweeps(), 2);
  end();
});

test("and one after some time, with epochs or without", async () => {
  const { sweep, sweeps, end } = held();
  const sweeper = new Sweeper(sweep, { epochs: never, bytes: never, ms: 20 });
  sweeper.look();
  assert.equal(sweeps(), 0);
  await sleep(30);
  sweeper.look();
  assert.equal(sweeps(), 1);
  end();
  await setImmediate();
  sweeper.look();
  assert.equal(sweeps(), 1);
  await sleep(30);
  sweeper.committed(7, 0);
  assert.equal(sweeps(), 2);
  end();
});

test("a run that follows its input, and has none, merges small files, and removes what was merged", async () => {
  using folder = temporaryFolder();
  const input = join(folder.path, "input");
  writeFileSync(input, "a\nb\nc\nd\n");
  const out = join(folder.path, "out");
  const lines = pipeline("sweeper").from(files.source({ path: input, value: text() }));
  lines.to(files.sink({ path: out, compact: { age: 1, grace: 1 } }), { id: "rows" });
  const stop = new AbortController();
  const running = runWith(
    lines,
    { state: join(folder.path, "state"), epochRecords: 2, follow: true, signal: stop.signal },
    { sweepTimes: { epochs: never, bytes: never, ms: 50 } },
  );
  const names = () => readdirSync(folder.path).includes("out") && readdirSync(out).filter((name) => name[0] !== ".");
  const merged = "part-000000000000-000000000002.jsonl";
  for (let tries = 0; tries < 1000 && String(names()) !== merged; tries++) await sleep(20);
  const found = names();
  stop.abort();
  const { outcome } = await running;
  assert.deepEqual([outcome, found], ["interrupted", [merged]]);
});
