import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { defaults, generateLines } from "./generate-orders.ts";

test("the sample is what the generator writes", () => {
  const sample = readFileSync(new URL("./data/orders.jsonl", import.meta.url), "utf8");
  assert.equal([...generateLines(defaults)].map((line) => `${line}\n`).join(""), sample);
});

test("some orders are broken", () => {
  const isOrder = (line: string) => /"totalCents":\d+}$/.test(line);
  const broken = [...generateLines(defaults)].filter((line) => !isOrder(line)).length;
  assert.ok(broken > 0 && broken < 20, `${broken} of ${defaults.lines}`);
});
