/**
 * Somebody else's producer dies with a transaction open on our input: whoever reads committed records stands still at its first record until the broker aborts it (KIP-664, KAFKA-9144; FLINK-39218).
 * It must be seen, named and waited for, and the pipeline must go on by itself.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lagOf } from "../../local/lag.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { cli, startCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { expectedCounts, makeLines, readCounts, sendLines } from "../support/kafka/counts.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { describe, it } = await needing(aBroker);

const example = fileURLToPath(new URL("../../examples/word-count-kafka.ts", import.meta.url));

for (const version of kafkaVersions)
  describe(`a transaction that somebody else left open, on Kafka ${version}`, () => {
    it("is seen, named, and waited for; then the pipeline goes on, exact", async () => {
      await using broker = await startKafka({ version });
      await using oracle = await startOracle(broker.bootstrap, { version });
      using folder = temporaryFolder();
      await oracle.createTopic("lines", 2);
      await oracle.createTopic("counts", 2);
      const parameters = { brokers: broker.bootstrap, input: "lines", output: "counts" };
      const set = Object.entries(parameters).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
      const state = join(folder.path, "state");
      const lines = makeLines("lines", 2, 3000, new SeededRandom(9));
      await sendLines(oracle, lines.slice(0, 1000));
      // It is never ended, and neither is its process: all that Kafka knows of a dead one.
      const dead = await oracle.producer({
        transactionalId: "payments-3",
        properties: { "transaction.timeout.ms": 15_000 },
      });
      await dead.begin();
      const [first] = await dead.send({ topic: "lines", partition: 0, timestamp: 0, value: "never committed" });
      await sendLines(oracle, lines.slice(1000));

      const { child, finished } = startCli([
        "run",
        example,
        ...set,
        "--state",
        state,
        "--follow",
        "--epoch-interval",
        "200ms",
      ]);
      const lag = () => lagOf(example, { parameters, state });
      const positionOf0 = async () => (await lag()).partitions.find(({ id }) => id === "lines/0")!;
      await until("all is read that can be", async () => (await positionOf0()).position === first!.offset);
      const seen = await lag();
      assert.ok((await positionOf0()).high > first!.offset + 1);
      assert.equal(seen.partitions.find(({ id }) => id === "lines/1")!.end > 0, true);
      const [held, ...others] = seen.heldBack!;
      assert.deepEqual(others, []);
      assert.deepEqual([held!.id, held!.offset], ["lines/0", first!.offset]);
      assert.match(held!.by, /^transactional id payments-3 \(producer \d+\)$/);
      assert.equal(held!.until! - held!.since!, 15_000);
      const shown = await cli("lag", example, ...set, "--state", state);
      assert.match(shown.stdout, /lines\/0 can be read up to offset \d+ only: a transaction open since .* payments-3/);

      await until("the broker has aborted it, and all is read", async () => {
        const { position, high } = await positionOf0();
        return position === high;
      });
      assert.deepEqual((await lag()).heldBack, []);
      child.kill("SIGINT");
      const { code, stderr } = await finished;
      assert.equal(code, 130, stderr);
      assert.match(stderr, /lines\/0 can be read up to offset \d+ only: .* payments-3/);
      const rest = await cli("run", example, ...set, "--state", state);
      assert.equal(rest.code, 0, rest.stderr);
      assert.deepEqual(await readCounts(oracle, "counts"), { counts: expectedCounts(lines), faults: [] });
      await dead[Symbol.asyncDispose]();
    });
  });
