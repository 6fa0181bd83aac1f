import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenSinks, checkSink } from "./broken-sinks.ts";
import { checksOf } from "./failed-checks.ts";
import { TableSink } from "./table-sink.ts";

checkSink("a table of SQLite", TableSink);

const found = new Set<string>();
for (const [mistake, [, check]] of Object.entries(brokenSinks))
  test(`the suite finds a sink that ${mistake}`, async () => {
    const failed = await checksOf("broken-sinks.ts", mistake, "not ok");
    for (const title of failed.filter((one) => check.test(one))) found.add(title);
    assert.ok(
      failed.some((title) => check.test(title)),
      `it fails only: ${failed.join("; ")}`,
    );
  });

test("each check of the suite has a sink that it finds", async () => {
  const all = await checksOf("broken-sinks.ts", "none", "ok");
  assert.ok(all.length > 15);
  assert.deepEqual(
    all.filter((title) => !found.has(title)),
    [],
  );
});

test("a check of what a sink has not is skipped by its name, and none is passed for nothing", async () => {
  const passed = await checksOf("bare-sink.ts", "", "ok");
  const skipped = passed.flatMap((title) => /# SKIP the sink has no (.*)/.exec(title)?.[1] ?? []);
  assert.deepEqual(
    Object.fromEntries(
      Map.groupBy(skipped, (what) => what)
        .entries()
        .map(([what, of]) => [what, of.length]),
    ),
    { "abandon()": 2, exclusive: 2, badRow: 2, "publish()": 3 },
  );
});
