import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import fc from "fast-check";
import { run } from "../../local/run.ts";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";
import { count, files, json, type Key, pipeline, seconds, tumbling } from "../../shared/index.ts";
import { folderOf } from "../support/folder.ts";

/** JSON has no bigints: the input writes one as `{"bigint":"1"}`; and so does the output. */
const toJson = (_: string, value: unknown) => (typeof value === "bigint" ? { bigint: String(value) } : value);
function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson);
  if (value === "Infinity as a number") return Number.POSITIVE_INFINITY;
  if (value === "an invalid date") return new Date(Number.NaN);
  const isBigint = typeof value === "object" && value !== null && "bigint" in value;
  return isBigint ? BigInt(String(value.bigint)) : value;
}

/** Counts keys, each in a line of its own as JSON. In epochs of a few records, so that keys go through snapshots too. */
async function countKeys(test: TestContext, keys: readonly unknown[], onError: "fail" | "skip" = "fail") {
  const folder = folderOf(test);
  writeFileSync(join(folder, "in.jsonl"), keys.map((key) => `${JSON.stringify([key], toJson)}\n`).join(""));
  const definition = pipeline("keys", { onError })
    .from(files.source({ path: join(folder, "in.jsonl"), value: json(), timestamp: () => 0 }))
    .keyBy((value) => fromJson((value as unknown[])[0]) as Key)
    .window(tumbling(seconds(1)))
    .aggregate({ count: count() })
    .map(({ key, count }) => JSON.parse(JSON.stringify({ key, count }, toJson)))
    .to(files.sink({ path: join(folder, "out") }));
  const result = await run(definition, { state: join(folder, "state"), epochRecords: 3 });
  if (result.outcome !== "done") return { ...result, counts: [] };
  const rows = (await Array.fromAsync(readRows(join(folder, "out")))).map((row) => JSON.parse(row));
  return { ...result, counts: rows.map(({ key, count }) => `${JSON.stringify(key)} ${count}`).sort() };
}

/** What counting them in a Map of their JSON texts gives. */
function expectedCounts(keys: readonly unknown[]): string[] {
  const counts = new Map<string, number>();
  for (const key of keys.map((one) => JSON.stringify(one, toJson))) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

suite("keys that are kept apart, and each counted", () => {
  const cases: Record<string, unknown[]> = {
    '1, "1", 1n, true, "true" and their tuples': [1, "1", 1n, true, "true", [1], ["1"], [1n], [true], 1, "1", [1], []],
    "tuples that a separator would mix up": [
      ["a", "b"],
      ["a,b"],
      ["a", "", "b"],
      ["", "a", "b"],
      ["ab"],
      ["a", 1],
      ["a", "1"],
    ],
    "names that every object has": [
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "__proto__",
      ["__proto__"],
    ],
    "nothing at all": ["", "", [""], ["", ""], " ", "\0", "\0\0"],
    "a megabyte": ["x".repeat(1 << 20), "y", `${"x".repeat((1 << 20) - 1)}z`, "x".repeat(1 << 20)],
    "Unicode, composed and not": ["é", "é", "日本語", "👩‍👩‍👧", "𝒳", "İ", "i̇", "\u200b", "\ufeff", "\uffff", "é"],
    "numbers at the edges": [
      0,
      1e21,
      5e-324,
      1.7976931348623157e308,
      0.1,
      9007199254740993n,
      9007199254740992,
      -1,
      1e21,
    ],
  };
  for (const [name, keys] of Object.entries(cases)) {
    test(name, async (t) => {
      const { outcome, error, counts } = await countKeys(t, keys);
      assert.equal(outcome, "done", error?.message);
      assert.deepEqual(counts, expectedCounts(keys));
    });
  }

  test("-0 is 0", async (t) => {
    assert.deepEqual((await countKeys(t, [0, { bigint: "0" }, "-0"])).counts, expectedCounts([0, 0n, "-0"]));
  });

  test("any keys", async (t) => {
    const part = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean(), fc.bigInt());
    const key = fc.oneof(part, fc.array(part, { minLength: 1, maxLength: 3 }));
    const some = fc.array(key, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(some, async (keys) => {
        assert.deepEqual((await countKeys(t, keys)).counts, expectedCounts(keys));
      }),
      { numRuns: 20 },
    );
  });
});

suite("keys that are refused: the message names operator and offset, and skip counts them", () => {
  const cases: Record<string, unknown> = {
    "an object": { a: 1 },
    null: null,
    "a lone surrogate": "a\ud800",
    "a lone surrogate in a tuple": ["a", "\udc00"],
    "an infinite number": "Infinity as a number",
    "a date": "an invalid date",
    "a tuple in a tuple": [["a"]],
    "a tuple with null": ["a", null],
  };
  for (const [name, key] of Object.entries(cases)) {
    test(name, async (t) => {
      const { outcome, error } = await countKeys(t, ["good", key, "good"]);
      assert.deepEqual([outcome, error?.code], ["stopped", "invalid-key"]);
      assert.match(error?.message ?? "", /the key is /);
      assert.deepEqual(
        [error?.place?.operator, error?.place?.offset, error?.place?.line],
        ["key-by-1", '["good"]\n'.length, 2],
      );
      const skipped = await countKeys(t, ["good", key, "good"], "skip");
      assert.deepEqual([skipped.skipped, skipped.counts], [1, ['"good" 2']]);
    });
  }
});
