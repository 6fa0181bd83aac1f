import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenSources, checkSource } from "./broken-sources.ts";
import { checksOf } from "./failed-checks.ts";
import { LogSource } from "./log-source.ts";

checkSource("a log in memory", LogSource);

for (const [mistake, [, check]] of Object.entries(brokenSources))
  test(`the suite finds a source that ${mistake}`, async () => {
    const failed = await checksOf("broken-sources.ts", mistake, "not ok");
    assert.ok(
      failed.some((title) => check.test(title)),
      `it fails only: ${failed.join("; ")}`,
    );
  });
