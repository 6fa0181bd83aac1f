import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { cli, startCli } from "../support/cli.ts";
import { folderOf } from "../support/folder.ts";
import { readRows } from "./table-sink.ts";

const module = join(import.meta.dirname, "pipeline.ts");
const secret = { TABLE_PASSWORD: "open sesame" };

test("a pipeline runs from its own source into its own sink, in worker threads", async (t) => {
  const folder = folderOf(t);
  const table = join(folder, "table.sqlite");
  const run = (count: number) => {
    const set = ["--set", `table=${table}`, "--set", `count=${count}`];
    const args = [
      "run",
      module,
      ...set,
      "--state",
      join(folder, "state"),
      "--epoch-records",
      "300",
      "--parallelism",
      "2",
    ];
    return startCli([...args, "--hold"], { env: secret }).finished;
  };
  for (const count of [500, 1000]) {
    const { code, stderr } = await run(count);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /sesame/);
  }
  const rows = readRows<{ key: number; windowStart: number; count: number; sum: number }>(table);
  // Windows end at hundreds: the last one is open.
  assert.equal(
    rows.reduce((total, { count }) => total + count, 0),
    3 * 900,
  );
  assert.equal(
    rows.reduce((total, { sum }) => total + sum, 0),
    (3 * 899 * 900) / 2,
  );
  assert.equal(new Set(rows.map(({ key, windowStart }) => `${key} ${windowStart}`)).size, 7 * 9);

  const moved = await startCli(
    ["run", module, "--set", `table=${join(folder, "other.sqlite")}`, "--state", join(folder, "state")],
    { env: secret },
  ).finished;
  assert.equal(moved.code, 4);
  assert.match(moved.stderr, /sums: the option file was ".*table\.sqlite", is ".*other\.sqlite"/);
});

test("explain names them, with no secret; verify takes no password, since its world is simulated", async () => {
  const explained = await cli("explain", module);
  assert.match(explained.stdout, /numbers source \{ partitions: 3, count: parameter\("count"\) \} of text/);
  assert.match(
    explained.stdout,
    /table sink \{ file: parameter\("table"\), password: environment\("TABLE_PASSWORD"\) \}/,
  );
  const verified = await cli("verify", module, "--seeds", "2");
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /sums: no violation in 2 runs/);
});

test("without the secret nothing is begun, and the message says where it is taken from", async (t) => {
  const folder = folderOf(t);
  const { code, stderr } = await cli(
    "run",
    module,
    "--set",
    `table=${join(folder, "t")}`,
    "--state",
    join(folder, "s"),
  );
  assert.equal(code, 2, stderr);
  assert.match(stderr, /TABLE_PASSWORD is not set/);
});
