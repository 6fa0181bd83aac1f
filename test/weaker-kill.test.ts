/** The weaker guarantees while the process is killed: what is missing, what is doubled, and what is counted. `EPOCHFLOW_TEST_SEED` gives the same moments again. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Guarantee } from "../shared/pipeline/topology.ts";
import { cli, startNode } from "./support/cli.ts";
import type { Drive } from "./support/driver.ts";
import { temporaryFolder } from "./support/folder.ts";
import { leftovers, readEpochs } from "./support/inspect.ts";
import { differences } from "./support/kafka/counts.ts";
import { killLoop } from "./support/kill-loop.ts";
import { seededRandom } from "./support/seed.ts";

const driver = fileURLToPath(new URL("support/driver.ts", import.meta.url));
const lines = 12_000;
const windowMs = 50;
const words = ["apple", "pear", "plum", "quince", "fig"];
const wordOf = (index: number) => words[(index * 7) % words.length]!;

/** What a batch evaluation gives. */
function expected(): string[] {
  const counts = new Map<string, number>();
  for (let index = 0; index < lines; index++) {
    const name = JSON.stringify({ key: wordOf(index), windowStart: index - (index % windowMs) });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => name.replace("}", `,"count":${count}}`)).sort();
}

function prepare(folder: string, guarantee: Guarantee) {
  const [input, output, module] = ["in", "out", "words.ts"].map((name) => join(folder, name));
  mkdirSync(input!);
  // Two partitions, so that several tasks have something to read.
  for (const part of [0, 1]) {
    const texts = Array.from({ length: lines }, (_, index) => `${index} ${wordOf(index)}\n`);
    writeFileSync(join(input!, `lines-${part}`), texts.filter((_, index) => index % 2 === part).join(""));
  }
  const text = `import { count, files, pipeline, tumbling } from "epochflow";
export default pipeline("words", { guarantee: "${guarantee}" })
  .from(files.source({ path: ${JSON.stringify(input)}, value: (line) => line.split(" "), timestamp: ([time]) => Number(time), outOfOrder: 1000 }))
  .keyBy(([, word]) => word)
  .window(tumbling(${windowMs}))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ key, windowStart, count }))
  .to(files.sink({ path: ${JSON.stringify(output)} }), { id: "counts" });
`;
  writeFileSync(module!, text);
  return { module: module!, output: output!, state: join(folder, "state") };
}

async function killed(context: TestContext, guarantee: Guarantee) {
  const random = seededRandom(context);
  using folder = temporaryFolder();
  const { module, output, state } = prepare(folder.path, guarantee);
  const start = () => {
    const drive: Drive = { module, options: { state, epochRecords: 120, parallelism: 2 }, seed: random.below(2 ** 31) };
    return startNode([driver, JSON.stringify(drive)]);
  };
  const { last, kills } = await killLoop({ start, state, random, kills: 4, epochsALife: 16 });
  assert.equal(last.code, 0, last.stderr);
  const { stdout, stderr } = await cli("read", output);
  assert.equal(stderr, "");
  const rows = stdout.trimEnd().split("\n").sort();
  const decision = (await readEpochs(state)).findLast((row) => row.status === "decided")?.decision;
  const found = { ...differences(rows, expected()), lost: decision?.lostSoFar ?? { epochs: 0, shares: 0, rows: 0 } };
  const { missing, extra, lost } = found;
  context.diagnostic(
    `killed ${kills} times: ${missing.length} missing, ${extra.length} extra, ${JSON.stringify(lost)} counted`,
  );
  assert.deepEqual(await leftovers(state, [output]), []);
  return found;
}

describe("a process that is killed under a weaker guarantee", { concurrency: 2 }, () => {
  it("at-least-once: every result is there, and what is there twice is a result", async (context) => {
    const { missing, extra, lost } = await killed(context, "at-least-once");
    assert.deepEqual(missing, []);
    const results = new Set(expected());
    assert.deepEqual(
      extra.filter((row) => !results.has(row)),
      [],
    );
    assert.equal(lost.epochs, 0);
  });

  it("at-most-once: nothing is there twice, and what is missing is counted", async (context) => {
    const { missing, extra, lost } = await killed(context, "at-most-once");
    // A share that is lost takes its records out of the windows that they were of: these have smaller counts.
    const windowOf = (row: string) => row.replace(/,"count".*/, "");
    const short = missing.filter((row) => extra.some((other) => windowOf(other) === windowOf(row)));
    assert.equal(new Set(extra.map(windowOf)).size, extra.length, "a window has two results");
    assert.equal(extra.length, short.length, "a result is there that should not be");
    if (lost.shares === 0) {
      assert.deepEqual(extra, []);
      assert.ok(missing.length <= lost.rows, `${missing.length} are missing, and ${lost.rows} counted`);
    }
  });
});
