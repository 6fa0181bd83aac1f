/** One pipeline module, run many times with other parameters, under other names. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { run } from "../local/index.ts";
import { cliIn } from "./support/cli.ts";
import { folderOf } from "./support/folder.ts";
import { readHead } from "./support/inspect.ts";
import { assertEnded } from "./support/words.ts";

const module = `
  import { count, files, parameter, pipeline, seconds, tumbling } from "epochflow";
  export default pipeline("orders")
    .from(files.source({ path: parameter("input"), value: (line) => line.split(" "), timestamp: ([at]) => Number(at) }))
    .keyBy(([, item]) => item)
    .window(tumbling(seconds(1)))
    .aggregate({ count: count() })
    .map(({ key, count }) => ({ key, count }))
    .to(files.sink({ path: parameter("output") }), { id: "counts" });`;

const regions = { eu: 300, us: 450, asia: 120 };

/** A working directory with the module, and an input for each region. */
function project(context: TestContext) {
  const cwd = folderOf(context);
  writeFileSync(join(cwd, "orders.ts"), module);
  for (const [region, lines] of Object.entries(regions)) {
    const text = Array.from({ length: lines }, (_, at) => `${at} ${region}\n`).join("");
    writeFileSync(join(cwd, `${region}.txt`), text);
  }
  const options = (region: string, output = `out/${region}`) => [
    "--set",
    `input=${region}.txt`,
    "--set",
    `output=${output}`,
  ];
  return { cwd, options, cli: (...args: string[]) => cliIn(cwd, ...args) };
}

test("three at once, each with its own name, state and folder below one output root: each exact", async (context) => {
  const { cwd, options, cli } = project(context);
  const names = Object.keys(regions);
  const start = (region: string) =>
    cli("run", "orders.ts", "--name", `orders-${region}`, "--epoch-records", "50", ...options(region));
  for (const finished of await Promise.all(names.map(start))) assertEnded(finished, 0, /Done/);
  for (const [region, lines] of Object.entries(regions)) {
    const { stdout } = await cli("read", `out/${region}`);
    assert.equal(stdout, `{"key":"${region}","count":${lines}}\n`);
    const head = await readHead(join(cwd, `.epochflow/orders-${region}`));
    assert.equal(head?.pipeline, `orders-${region}`);
    assert.match((await cli("status", "orders.ts", "--name", `orders-${region}`)).stdout, /^epochs +\d+ decided/m);
  }
  assert.equal(await readHead(join(cwd, ".epochflow/orders")), undefined);
  const again = await Promise.all(names.map(start));
  for (const finished of again) assertEnded(finished, 0, /Nothing to do/);
  const lag = await cli("lag", "orders.ts", "--name", "orders-eu", ...options("eu"));
  assert.match(lag.stdout, /backlog 0 B/);
});

test("two of one name with states of their own do not get into one output: the second is refused", async (context) => {
  const { options, cli } = project(context);
  assertEnded(await cli("run", "orders.ts", "--state", "one", ...options("eu", "out")), 0);
  const { stdout } = await cli("read", "out");
  assertEnded(await cli("run", "orders.ts", "--state", "two", ...options("eu", "out")), 4, /belongs to sink counts/);
  assert.equal((await cli("read", "out")).stdout, stdout);
});

test("a state of one name is not another's", async (context) => {
  const { options, cli } = project(context);
  assertEnded(await cli("run", "orders.ts", "--name", "one", "--state", "state", ...options("eu")), 0);
  const other = await cli("run", "orders.ts", "--name", "two", "--state", "state", ...options("us"));
  assertEnded(other, 2, /state is the state of pipeline one, not of two/);
});

test("other parameters on a state are told, with their values, and how to have another pipeline instead", async (context) => {
  const { options, cli } = project(context);
  const first = await cli("run", "orders.ts", ...options("eu"));
  assertEnded(first, 0);
  assert.doesNotMatch(first.stderr, /other parameters/);
  const other = await cli("run", "orders.ts", ...options("us"));
  assert.match(other.stderr, /warning: .*other parameters/);
  assert.match(other.stderr, /input was "eu\.txt", is "us\.txt"\n.*output was "out\/eu", is "out\/us"/);
  assert.match(other.stderr, /--name NAME/);
  assert.doesNotMatch((await cli("run", "orders.ts", ...options("us"))).stderr, /other parameters/);
});

test("parameters that a run cannot begin with are not those of the last run", async (context) => {
  const { options, cli } = project(context);
  assertEnded(await cli("run", "orders.ts", ...options("eu")), 0);
  assertEnded(
    await cli("run", "orders.ts", ...options("eu"), "--set", "input=gone.txt"),
    2,
    /gone\.txt does not exist/,
  );
  const again = await cli("run", "orders.ts", ...options("eu"));
  assertEnded(again, 0);
  assert.doesNotMatch(again.stderr, /other parameters/);
});

test("a name is checked, and one that has no state is not taken for another", async (context) => {
  const { cli, options } = project(context);
  assertEnded(
    await cli("run", "orders.ts", "--name", "Orders EU", ...options("eu")),
    2,
    /"Orders EU" cannot be the name/,
  );
  assertEnded(await cli("run", "orders.ts", "--name", "orders-eu", ...options("eu")), 0);
  assertEnded(await cli("status", "orders.ts", "--name", "orders-e"), 2, /Did you mean "orders-eu"\?/);
  assertEnded(await cli("status", "--name", "orders-eu", "--stack", "s"), 2, /--pipeline NAME/);
  assert.match((await cli("explain", "orders.ts", "--name", "orders-eu")).stdout, /^Pipeline orders-eu\n/);
});

test("in a program", async (context) => {
  const { cwd } = project(context);
  const at = (name: string) => join(cwd, name);
  const parameters = { input: at("eu.txt"), output: at("eu") };
  const result = await run(at("orders.ts"), { name: "orders-eu", parameters, state: at("state") });
  assert.equal(result.outcome, "done", JSON.stringify(result.error));
  assert.equal((await readHead(at("state")))?.pipeline, "orders-eu");
});
