/** Bad records → dead letters → the pipeline is mended → `epochflow replay` → exact results, on a real broker, also when the replay is killed on its way. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cliIn, startCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { type Oracle, type OracleRecord, type OutgoingRecord, startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";
import { assertEnded } from "../support/words.ts";

const { describe, it } = await needing(aBroker);

/** The first version does not know amounts with a comma; the second does. */
const moduleOf = (amount: string, deadLetters: string) => `
  import { deadLetter, files, json, kafka, parameter, pipeline, seconds, sum, text, tumbling } from "epochflow";
  export default pipeline("orders", { onError: deadLetter(${deadLetters}) })
    .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(3600) }))
    .map((line) => {
      const [shop, amount] = line.split(" ");
      const cents = ${amount};
      if (!Number.isInteger(cents)) throw new Error("no amount");
      return { shop, cents };
    }, { id: "parse" })
    .keyBy(({ shop }) => shop)
    .window(tumbling(seconds(10)))
    .aggregate({ cents: sum(({ cents }) => cents) })
    .to(files.sink({ path: "out" }), { id: "totals" });`;
const first = "Number(amount)";
const mended = 'Math.round(Number(amount.replace(",", ".")) * (amount.includes(",") ? 100 : 1))';

const start = 1_700_000_000_000;
const records = 6000;
const isBad = (index: number) => index % 2 === 0;

/** Amounts are their number in cents, every other one as "0,07". */
function orderOf(index: number): OutgoingRecord {
  const amount = isBad(index) ? (index / 100).toFixed(2).replace(".", ",") : String(index);
  return {
    ...{ topic: "orders", partition: index % 3, timestamp: start + index * 5 },
    key: index % 5 === 0 ? null : Buffer.from([0xff, index % 256]),
    value: `shop-${index % 4} ${amount}`,
    headers: [["trace", `t${index}`], ["trace", null], ["raw", Buffer.of(0xff)]], // biome-ignore format: pairs
  };
}

function expectedTotals(): string[] {
  const totals = new Map<string, number>();
  for (let index = 0; index < records; index++) {
    const windowStart = Math.floor((start + index * 5) / 10_000) * 10_000;
    const name = JSON.stringify({ key: `shop-${index % 4}`, windowStart, windowEnd: windowStart + 10_000 });
    totals.set(name, (totals.get(name) ?? 0) + index);
  }
  return [...totals].map(([name, cents]) => name.replace("}", `,"cents":${cents}}`)).sort();
}

async function send(oracle: Oracle): Promise<void> {
  await using producer = await oracle.producer();
  await producer.send(...Array.from({ length: records }, (_, index) => orderOf(index)));
}

const parts = ({ partition, timestamp, key, value }: OracleRecord) =>
  JSON.stringify([partition, timestamp, key?.toString("base64"), value?.toString("base64")]);
const header = ({ headers }: OracleRecord, name: string) =>
  headers.filter(([one]) => one === name).map(([, value]) => (value === null ? null : value.toString("latin1")));

const letterSinks = {
  folder: 'files.sink({ path: "dead" })',
  topic: 'kafka.sink({ topic: parameter("dead", "dead"), value: json() })',
};

for (const [where, deadLetters] of Object.entries(letterSinks)) {
  describe(`dead letters in a ${where}`, () => {
    const version = kafkaVersions[0]!;

    it("are replayed once each, as they were, and the results are exact", async () => {
      await using broker = await startKafka({ version });
      await using oracle = await startOracle(broker.bootstrap, { version });
      using folder = temporaryFolder();
      for (const topic of ["orders", "dead"]) await oracle.createTopic(topic, 3);
      await send(oracle);
      const write = (amount: string) => writeFileSync(join(folder.path, "orders.ts"), moduleOf(amount, deadLetters));
      const set = ["--set", `brokers=${broker.bootstrap}`, "--set", "input=orders"];
      const cli = (command: string, ...options: string[]) =>
        cliIn(folder.path, command, "orders.ts", ...set, ...options);
      write(first);
      assertEnded(await cli("run", "--hold"), 0, /3,000 dead-lettered/);
      write(mended);

      const before = await oracle.offsets("orders", "high-watermark");
      const dry = await cli("replay", "--dry-run");
      assertEnded(dry, 0, /3,000 +parse +no amount/, /to put back +3,000 records, into the topics that they came from/);
      assertEnded(await cli("replay"), 2, /asks first/);
      assertEnded(await cli("replay", "--operator", "other", "--yes"), 0, /No dead letters in .* are meant/);
      assert.deepEqual(await oracle.offsets("orders", "high-watermark"), before);

      for (let lifeMs = 700; lifeMs < 3000; lifeMs += 250) {
        const { child, finished } = startCli(["replay", "orders.ts", ...set, "--yes"], { cwd: folder.path });
        await Promise.race([sleep(lifeMs), finished]);
        child.kill("SIGKILL");
        await finished;
      }
      assertEnded(await cli("replay", "--yes"), 0);
      assertEnded(await cli("replay", "--yes"), 0, /to put back +0 records/, /3,000 records, put back before/);

      const all = await oracle.read("orders");
      const back = all.filter((record) => header(record, "epochflow.replays").length > 0);
      const originals = all.filter((record) => !back.includes(record));
      assert.equal(originals.length, records);
      const bad = originals.filter((record) => record.value?.includes(","));
      assert.deepEqual(back.map(parts).sort(), bad.map(parts).sort());
      for (const record of back) {
        assert.deepEqual(header(record, "epochflow.replays"), ["1"]);
        assert.deepEqual(header(record, "trace").slice(1), [null]);
        assert.deepEqual(header(record, "raw"), ["ÿ"]);
      }
      const places = new Set(back.map((record) => header(record, "epochflow.replay-of")[0]));
      assert.equal(places.size, 3000);

      assertEnded(await cli("run"), 0, /Done/);
      const { stdout } = await cliIn(folder.path, "read", "out");
      assert.deepEqual(stdout.trimEnd().split("\n").sort(), expectedTotals());
    });

    it("are counted when they fail again; a lost journal is told, and doubles nothing", async () => {
      await using broker = await startKafka({ version });
      await using oracle = await startOracle(broker.bootstrap, { version });
      using folder = temporaryFolder();
      for (const topic of ["orders", "dead"]) await oracle.createTopic(topic, 3);
      writeFileSync(join(folder.path, "orders.ts"), moduleOf(first, deadLetters));
      const set = ["--set", `brokers=${broker.bootstrap}`, "--set", "input=orders"];
      const cli = (command: string, ...options: string[]) =>
        cliIn(folder.path, command, "orders.ts", ...set, ...options);
      await using producer = await oracle.producer();
      await producer.send(orderOf(0), orderOf(2));
      assertEnded(await cli("run", "--hold"), 0, /2 dead-lettered/);
      assertEnded(await cli("replay", "--yes"), 0, /2 records put back/);
      assertEnded(await cli("run", "--hold"), 0, /2 dead-lettered/);
      const again = await cli("replay", "--yes", "--json");
      assertEnded(again, 0, /in a loop +2 records that failed again, after 1 replay at most/, /2 records put back/);
      assert.equal(JSON.parse(again.stdout).replayed, 2);
      const counts = (await oracle.read("orders")).map((record) => header(record, "epochflow.replays").join());
      assert.deepEqual(counts.sort(), ["", "", "1", "1", "2", "2"]);

      const lost = await cli("replay", "--yes", "--state", "another");
      assert.equal(lost.code, 4, lost.stderr);
      assert.equal((await oracle.read("orders")).length, 6);
    });
  });
}
