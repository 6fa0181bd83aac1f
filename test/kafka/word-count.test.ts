/** `examples/word-count-kafka.ts`, and the same on bytes, from one end to the other: Kafka to Kafka, by the very command, on real brokers. */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { cli, startCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { expectedCounts, makeLines, readCounts, sendLines } from "../support/kafka/counts.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { describe, it } = await needing(aBroker);

const [example, onBytes] = ["word-count-kafka.ts", "word-count-bytes.ts"].map((name) =>
  fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)),
) as [string, string];

for (const version of kafkaVersions) {
  describe(`the word count on Kafka ${version}`, () => {
    for (const pipeline of [example, onBytes])
      it(`counts each word once, in order per key, in as many runs as one likes: ${basename(pipeline)}`, async () => {
        await using broker = await startKafka({ version });
        await using oracle = await startOracle(broker.bootstrap, { version });
        using folder = temporaryFolder();
        await oracle.createTopic("lines", 4);
        await oracle.createTopic("counts", 3);
        const set = ["brokers", "input", "output"].flatMap((name, index) => [
          "--set",
          `${name}=${[broker.bootstrap, "lines", "counts"][index]}`,
        ]);
        const options = [pipeline, ...set, "--state", join(folder.path, "state")];
        const lines = makeLines("lines", 4, 6000, new SeededRandom(7));
        await sendLines(oracle, lines.slice(0, 3000));
        const held = await cli("run", ...options, "--hold", "--epoch-records", "700");
        assert.equal(held.code, 0, held.stderr);
        await sendLines(oracle, lines.slice(3000));
        const lag = await cli("lag", ...options);
        assert.equal(lag.code, 0, lag.stderr);
        assert.match(lag.stdout, /backlog 3,000 records/);
        const last = await cli("run", ...options, "--epoch-records", "700");
        assert.equal(last.code, 0, last.stderr);
        assert.deepEqual(await readCounts(oracle, "counts"), { counts: expectedCounts(lines), faults: [] });
        const idle = await cli("run", ...options);
        assert.equal(idle.code, 0, idle.stderr);
        assert.match(idle.stderr, /Nothing to do/);
      });

    it("follows its input until Ctrl-C", async () => {
      await using broker = await startKafka({ version });
      await using oracle = await startOracle(broker.bootstrap, { version });
      using folder = temporaryFolder();
      await oracle.createTopic("lines", 2);
      await oracle.createTopic("counts", 2);
      const set = ["--set", `brokers=${broker.bootstrap}`, "--set", "input=lines", "--set", "output=counts"];
      const state = ["--state", join(folder.path, "state")];
      const { child, finished } = startCli(["run", example, ...set, ...state, "--follow", "--epoch-interval", "200ms"]);
      const lines = makeLines("lines", 2, 4000, new SeededRandom(8));
      const fired = async () => (await oracle.read("counts")).length;
      await sendLines(oracle, lines.slice(0, 2000));
      await until("the first windows have fired", async () => (await fired()) > 0);
      const before = await fired();
      await sendLines(oracle, lines.slice(2000));
      await until("later ones have, too", async () => (await fired()) > before);
      child.kill("SIGINT");
      const { code, stderr } = await finished;
      assert.equal(code, 130, stderr);
      const rest = await cli("run", example, ...set, ...state);
      assert.equal(rest.code, 0, rest.stderr);
      assert.deepEqual(await readCounts(oracle, "counts"), { counts: expectedCounts(lines), faults: [] });
    });
  });
}
