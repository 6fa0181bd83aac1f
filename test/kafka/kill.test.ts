/**
 * The whole word count, Kafka to Kafka, is killed again and again, at random moments, while the broker is killed and restarted and sockets are reset. Java's
 * read_committed consumer sees every result once, in order per key. `EPOCHFLOW_TEST_SEED` gives the same moments again, as far as time allows;
 * `EPOCHFLOW_TEST_TIMES=5` has five times as many kills.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startCli, startNode } from "../support/cli.ts";
import type { Drive } from "../support/driver.ts";
import { temporaryFolder } from "../support/folder.ts";
import type { KafkaVersion } from "../support/kafka/broker.ts";
import { differences, expectedCounts, makeLines, readCounts, sendLines } from "../support/kafka/counts.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { startProxiedKafka } from "../support/kafka/proxied.ts";
import { killLoop } from "../support/kill-loop.ts";
import { aBroker, needing } from "../support/needing.ts";
import { seededRandom } from "../support/seed.ts";

const { describe, it } = await needing(aBroker);

const example = fileURLToPath(new URL("../../examples/word-count-kafka.ts", import.meta.url));
const driver = fileURLToPath(new URL("../support/driver.ts", import.meta.url));

const times = Number(process.env.EPOCHFLOW_TEST_TIMES ?? 1);

interface Job {
  readonly version: KafkaVersion;
  readonly lines: number;
  readonly epochRecords: number;
  readonly kills: number;
  /** Partitions of the topic of counts. */
  readonly targets: number;
  /** From 1 to 4 tasks in each stage of each attempt, by chance. */
  readonly tasksByChance?: true;
  readonly broken?: "broker" | "restart" | "sockets";
}

async function killed(context: TestContext, job: Job): Promise<void> {
  const random = seededRandom(context);
  // Restarts wait for the end of the old life's session; 3.9.2 may take itself for dead at leisure.
  const settings = job.broken === "broker" || job.broken === "restart" ? { "broker.session.timeout.ms": 2000 } : {};
  await using proxied = await startProxiedKafka({ version: job.version, settings });
  const { broker, proxy } = proxied;
  await using oracle = await startOracle(broker.bootstrap, { version: job.version });
  using folder = temporaryFolder();
  await oracle.createTopic("lines", 4);
  await oracle.createTopic("counts", job.targets);
  const lines = makeLines("lines", 4, job.lines * times, random);
  await sendLines(oracle, lines);

  const state = join(folder.path, "state");
  const parameters = {
    brokers: job.broken === "sockets" ? proxy.address : broker.bootstrap,
    input: "lines",
    output: "counts",
  };
  const start = () => {
    const options = { parameters, state, epochRecords: job.epochRecords, parallelism: 2 };
    const drive: Drive = { module: example, options, seed: random.below(2 ** 31) };
    if (job.tasksByChance) return startNode([driver, JSON.stringify(drive)]);
    const set = Object.entries(parameters).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    return startCli(["run", example, ...set, "--state", state, "--epoch-records", String(job.epochRecords)]);
  };
  let over = false;
  const breaking = (async () => {
    while (!over && job.broken !== undefined) {
      // A broker that comes back needs its time, and so does what it is to break in on.
      await sleep((job.broken === "sockets" ? 1000 : 3000) + random.below(3000));
      if (job.broken === "sockets") proxy.reset();
      else {
        if (job.broken === "broker") await broker.kill();
        await broker.restart();
      }
    }
  })();
  const { last, kills, killsAfterProgress } = await killLoop({
    ...{ start, state, random },
    kills: job.kills * times,
    epochsALife: 3,
  });
  over = true;
  await breaking;
  context.diagnostic(`killed ${kills} times`);
  assert.equal(last.code, 0, last.stderr);
  assert.ok(killsAfterProgress >= job.kills * times, `it was over after ${killsAfterProgress} kills: take more input`);
  const { counts, faults } = await readCounts(oracle, "counts");
  assert.deepEqual(faults, []);
  assert.deepEqual(differences(counts, expectedCounts(lines)), { missing: [], extra: [] });
}

describe("a word count that is killed", () => {
  it("on Kafka 4.4.0: each result once, in order per key", (context) =>
    killed(context, { version: "4.4.0", lines: 20_000, epochRecords: 150, kills: 25, targets: 3 }));

  it("on Kafka 3.9.2, with as many tasks as chance will have", (context) =>
    killed(context, {
      ...{ version: "3.9.2", lines: 20_000, epochRecords: 200, kills: 15, targets: 7 },
      tasksByChance: true,
    }));

  // Not on 4.4.0: a broker that is alone and goes right after EndTxn may leave a transaction open there for ever (KAFKA-20734).
  it("while the broker is killed and comes back", (context) =>
    killed(context, { version: "3.9.2", lines: 8000, epochRecords: 150, kills: 5, targets: 2, broken: "broker" }));

  it("while the broker is restarted in good order", (context) =>
    killed(context, { version: "3.9.2", lines: 8000, epochRecords: 150, kills: 2, targets: 2, broken: "restart" }));

  it("while sockets are reset", (context) =>
    killed(context, { version: "4.4.0", lines: 8000, epochRecords: 150, kills: 5, targets: 4, broken: "sockets" }));
});
