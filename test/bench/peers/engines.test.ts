import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { describe } from "../../../shared/pipeline/describe.ts";
import { baseline, latencyEngines, recoveryEngines, throughputEngines } from "./engines.ts";

const place = { bootstrap: "localhost:9092", input: "in", output: "out", work: "/work" };

for (const [part, engines] of Object.entries({ throughputEngines, latencyEngines, recoveryEngines }))
  test(`${part}: Flink is among them, names are unique, and a name's interval is the engine's`, () => {
    const names = engines.map(({ name }) => name);
    assert.ok(names.includes(baseline));
    assert.equal(new Set(names).size, names.length);
    for (const { name, epochMs } of engines) {
      const [, number, unit] = /-(\d+)(ms|s)$/.exec(name) ?? [];
      if (epochMs !== null) assert.equal(epochMs, number ? Number(number) * (unit === "s" ? 1000 : 1) : 1000);
    }
  });

test("pipelines of ours run from the given topic to the given topic", async () => {
  const ours = [...throughputEngines, ...latencyEngines, ...recoveryEngines].filter(({ module }) => !module);
  const paths = new Set(ours.map((engine) => engine.command(place)[2]!));
  assert.equal(paths.size, 4);
  for (const path of paths) {
    const { parameters } = describe((await import(pathToFileURL(path).href)).default);
    assert.deepEqual(parameters.map(({ name }) => name).sort(), ["brokers", "input", "output"], path);
  }
});
