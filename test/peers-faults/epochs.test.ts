/** The first epoch, which has no checkpoint to come back to; and epochs that have no output. */
import assert from "node:assert/strict";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run, runWith } from "../../local/run.ts";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import { count, files, pipeline } from "../../shared/index.ts";
import { collect } from "../../shared/testing/collect.ts";
import { folderOf } from "../support/folder.ts";
import { readHead } from "../support/inspect.ts";
import { type Around, around, synchronous } from "../support/ports.ts";

function placeOf(folder: string) {
  const [input, output, state] = ["input", "output", "state"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const definition = pipeline("numbers")
    .from(files.source({ path: input, value: (line) => Number(line), timestamp: (number) => number }))
    .filter((number) => number >= 0)
    .keyBy((number) => number % 3)
    .aggregate({ n: count() })
    .to(files.sink({ path: output }), { id: "counts" });
  const write = (...numbers: number[]) => appendFileSync(input, numbers.map((number) => `${number}\n`).join(""));
  const last = async () =>
    Object.fromEntries((await collect(readRows(output))).map((row) => [JSON.parse(row).key, JSON.parse(row).n]));
  const manifests = () => readdirSync(join(output, ".epochflow", "manifests")).length;
  return { definition, state, write, last, manifests };
}

/** Nobody is left to do anything from this call on, before or after its effect. */
const crashing = (at: number, when: "before" | "after", onCalls: (calls: number) => void): Around => {
  let calls = 0;
  return (method, call) => {
    const number = calls++;
    onCalls(calls);
    const error = new InfrastructureError("crash", `${method} #${number}`);
    if (number > at || (number === at && when === "before")) {
      if (synchronous.has(method)) throw error;
      return Promise.reject(error) as never;
    }
    if (number < at || synchronous.has(method)) return call();
    return (call() as Promise<unknown>).then(() => Promise.reject(error)) as never;
  };
};

test("a first epoch may crash at each of its calls: it has no checkpoint to come back to, and nothing comes twice (FLINK-23854)", async (context) => {
  const attempt = async (at: number, when: "before" | "after") => {
    const { definition, state, write, last, manifests } = placeOf(folderOf(context));
    write(1, 2, 3, 4, 5, 6, 7);
    let calls = 0;
    const crash = crashing(at, when, (made) => (calls = made));
    await runWith(definition, { state, parallelism: 1 }, { engine: (engine) => around(engine, crash) }).catch(() => {});
    const rest = await run(definition, { state, parallelism: 1 });
    assert.ok(["done", "nothing-new"].includes(rest.outcome), `crash ${when} call ${at}: ${rest.outcome}`);
    assert.deepEqual(await last(), { 0: 2, 1: 3, 2: 2 }, `crash ${when} call ${at}`);
    assert.equal(manifests(), 1);
    return calls;
  };
  const all = await attempt(Number.POSITIVE_INFINITY, "before");
  assert.ok(all > 10, String(all));
  for (let at = 0; at < all; at++) for (const when of ["before", "after"] as const) await attempt(at, when);
  context.diagnostic(`${all} calls`);
});

test("epochs without output are committed, leave no files, and what follows is exact (FLINK-31363)", async (context) => {
  const { definition, state, write, last, manifests } = placeOf(folderOf(context));
  const go = (...numbers: number[]) => {
    write(...numbers);
    return run(definition, { state, parallelism: 1, epochRecords: 1 });
  };
  await go(-1, -2);
  assert.deepEqual([(await readHead(state))!.committed, manifests()], [2, 0]);
  await go(5, -3, -4, -5, 8);
  const head = (await readHead(state))!;
  assert.deepEqual([head.decided, head.committed, manifests()], [7, 7, 2]);
  assert.deepEqual(await last(), { 2: 2 });
});
