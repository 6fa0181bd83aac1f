import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { folderOf } from "../../../test/support/folder.ts";
import { LeaseLock } from "./lease-lock.ts";

const program = new URL("../../../test/support/lease-process.ts", import.meta.url).pathname;

async function contend(context: TestContext, file: string): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => child.kill("SIGKILL"));
  const [answer] = await once(child.stdout!, "data");
  return { child, answer: String(answer).trim() };
}

test("LeaseLock: one holder at a time, also within a process", (context) => {
  const file = join(folderOf(context), "lease.db");
  const lock = LeaseLock.tryAcquire(file);
  assert(lock);
  assert.equal(LeaseLock.tryAcquire(file), undefined);
  lock.release();
  lock.release();
  const next = LeaseLock.tryAcquire(file);
  assert(next);
  lock.release();
  assert.equal(LeaseLock.tryAcquire(file), undefined);
  next.release();
});

test("LeaseLock: it is held although nobody keeps the object", async (context) => {
  const file = join(folderOf(context), "lease.db");
  assert(LeaseLock.tryAcquire(file));
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  for (let times = 0; times < 3; times++) {
    collectGarbage();
    await setImmediate();
  }
  assert.equal(LeaseLock.tryAcquire(file), undefined);
});

test("LeaseLock: the system frees it when its holder is killed, and nothing is left to recover", async (context) => {
  const file = join(folderOf(context), "lease.db");
  const { child, answer } = await contend(context, file);
  assert.equal(answer, "held");
  assert.equal(LeaseLock.tryAcquire(file), undefined);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.deepEqual(readdirSync(join(file, "..")), ["lease.db"]);
  assert.equal(statSync(file).size, 0);
  const lock = LeaseLock.tryAcquire(file);
  assert(lock);
  assert.equal((await contend(context, file)).answer, "taken");
  lock.release();
});

test("LeaseLock: of several processes that begin at once, one gets it", async (context) => {
  for (let round = 0; round < 3; round++) {
    const file = join(folderOf(context), "lease.db");
    const all = await Promise.all(Array.from({ length: 4 }, () => contend(context, file)));
    assert.deepEqual(all.map((one) => one.answer).sort(), ["held", "taken", "taken", "taken"]);
    for (const { child } of all) child.kill("SIGKILL");
  }
});

test("LeaseLock: a file that cannot be used is named", (context) => {
  const folder = folderOf(context);
  const file = join(folder, "none", "lease.db");
  assert.throws(() => LeaseLock.tryAcquire(file), { code: "lease-file", place: { file } });
  const foreign = join(folder, "foreign");
  writeFileSync(foreign, "not a database, and long enough to see it is not one: ".repeat(100));
  assert.throws(() => LeaseLock.tryAcquire(foreign), { code: "lease-file", place: { file: foreign } });
});
