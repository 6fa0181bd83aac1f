/** The word count under the weaker guarantees, Kafka to Kafka, while it is killed and sockets are reset: what is missing, what is doubled, and what is counted. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Guarantee } from "../../shared/pipeline/topology.ts";
import { startCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/folder.ts";
import { readEpochs } from "../support/inspect.ts";
import { differences, expectedCounts, makeLines, readCounts, sendLines } from "../support/kafka/counts.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { startProxiedKafka } from "../support/kafka/proxied.ts";
import { killLoop } from "../support/kill-loop.ts";
import { aBroker, needing } from "../support/needing.ts";
import { seededRandom } from "../support/seed.ts";

const { describe, it } = await needing(aBroker);
const version = "4.4.0";

const moduleOf = (guarantee: Guarantee) => `
import { count, json, kafka, parameter, pipeline, seconds, text, tumbling } from "epochflow";
export default pipeline("word-count-kafka", { guarantee: "${guarantee}" })
  .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(5) }))
  .flatMap((line) => line.split(" ").filter(Boolean))
  .keyBy((word) => word)
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
  .to(kafka.sink({ topic: parameter("output"), key: (row) => row.word, value: json() }), { id: "counts" });
`;

async function killed(context: TestContext, guarantee: Guarantee) {
  const random = seededRandom(context);
  await using proxied = await startProxiedKafka({ version, settings: {} });
  const { broker, proxy } = proxied;
  await using oracle = await startOracle(broker.bootstrap, { version });
  using folder = temporaryFolder();
  await oracle.createTopic("lines", 4);
  await oracle.createTopic("counts", 3);
  const lines = makeLines("lines", 4, 8000, random);
  await sendLines(oracle, lines);
  const module = join(folder.path, "words.ts");
  writeFileSync(module, moduleOf(guarantee));
  const state = join(folder.path, "state");
  const set = { brokers: proxy.address, input: "lines", output: "counts" };
  const options = Object.entries(set).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const start = () => startCli(["run", module, ...options, "--state", state, "--epoch-records", "150"]);
  let over = false;
  const breaking = (async () => {
    while (!over) {
      await sleep(500 + random.below(1500));
      proxy.reset();
    }
  })();
  const { last, kills } = await killLoop({ start, state, random, kills: 4, epochsALife: 6 });
  over = true;
  await breaking;
  assert.equal(last.code, 0, last.stderr);
  const { counts, faults } = await readCounts(oracle, "counts");
  const decision = (await readEpochs(state)).findLast((row) => row.status === "decided")?.decision;
  const found = { ...differences(counts, expectedCounts(lines)), lost: decision?.lostSoFar };
  const { missing, extra, lost } = found;
  context.diagnostic(
    `killed ${kills} times: ${missing.length} missing, ${extra.length} extra, counted: ${JSON.stringify(lost)}`,
  );
  return { ...found, faults, results: new Set(expectedCounts(lines)) };
}

describe("a word count that is killed under a weaker guarantee", () => {
  it("at-least-once: every result is there, and what is there twice is a result", async (context) => {
    const { missing, extra, lost, results } = await killed(context, "at-least-once");
    assert.deepEqual(missing, []);
    assert.deepEqual(
      extra.filter((row) => !results.has(row)),
      [],
    );
    assert.equal(lost, undefined);
  });

  it("at-most-once: nothing is there twice, in order per key, and what is missing is counted", async (context) => {
    const { missing, extra, lost, faults } = await killed(context, "at-most-once");
    assert.deepEqual(extra, []);
    assert.deepEqual(faults, []);
    assert.ok(missing.length <= (lost?.rows ?? 0), `${missing.length} are missing, and ${lost?.rows} counted`);
  });
});
