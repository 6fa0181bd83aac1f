/**
 * Ranges that we read, cut at random, against Kafka's own Java consumer: producers in transactions that overlap, commit and abort, and keys that look like
 * those of transaction markers. kafkajs's consumer gives records of aborted transactions here.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { createKafkaSource } from "../../shared/adapters/kafka/source/source.ts";
import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import type { Source } from "../../shared/ports/source.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import {
  type Oracle,
  type OracleIsolation,
  type OracleProducer,
  type OracleRecord,
  type OutgoingRecord,
  startOracle,
} from "../support/kafka/oracle.ts";
import { readRange } from "../support/kafka/readings.ts";
import { aBroker, needing } from "../support/needing.ts";
import { seededRandom } from "../support/seed.ts";
import { until } from "../support/until.ts";

const { suite, test } = await needing(aBroker);

const partitions = 2;
const steps = 80;

for (const version of kafkaVersions) {
  suite(`ranges against Java's consumer, Kafka ${version}`, () => {
    test("transactions that overlap, in each compression, at random", async (context) => {
      const random = seededRandom(context);
      await using broker = await startKafka({ version });
      await using oracle = await startOracle(broker.bootstrap, { version });
      for (const timestamps of ["CreateTime", "LogAppendTime"]) {
        await oracle.createTopic(timestamps, partitions, { "message.timestamp.type": timestamps });
        const writer = new Writer(oracle, random, timestamps);
        await writer.write(steps);
        // Some transactions are still open.
        await compare(broker.bootstrap, oracle, random, timestamps);
        await writer.finish();
        await oracle.settled(timestamps);
        await compare(broker.bootstrap, oracle, random, timestamps);
      }
    });

    test("a compacted topic, with transactions", async (context) => {
      const random = seededRandom(context);
      const cleaner = { "log.cleaner.backoff.ms": 200, "log.cleaner.threads": 1 };
      await using broker = await startKafka({ version, settings: cleaner });
      await using oracle = await startOracle(broker.bootstrap, { version });
      await oracle.createTopic("compacted", partitions, {
        "cleanup.policy": "compact",
        "segment.ms": "500",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "100",
      });
      const writer = new Writer(oracle, random, "compacted", { compacted: true });
      for (let round = 0; round < 4; round++) {
        await writer.write(steps / 4);
        await writer.finish();
        await until("the segment is old", () => sleep(600, true));
      }
      await writer.write(4);
      await writer.finish();
      await oracle.settled("compacted");
      let before = Number.POSITIVE_INFINITY;
      await until("records are compacted away", async () => {
        const left = (await oracle.read("compacted")).length;
        const isOver = left === before && left < writer.committed / 2;
        before = left;
        await sleep(500);
        return isOver;
      });
      context.diagnostic(`${before} of ${writer.committed} records are left`);
      await compare(broker.bootstrap, oracle, random, "compacted");
    });
  });
}

interface Turn {
  readonly producer: OracleProducer;
  readonly transactional: boolean;
  /** Its transaction. */
  open: boolean;
  sent: number;
}

/** Producers that take turns at random; those with a transaction leave it open meanwhile. */
class Writer {
  committed = 0;
  readonly #oracle: Oracle;
  readonly #random: SeededRandom;
  readonly #topic: string;
  readonly #keys: readonly (Buffer | null)[];
  #producers: Turn[] = [];

  constructor(oracle: Oracle, random: SeededRandom, topic: string, { compacted = false } = {}) {
    this.#oracle = oracle;
    this.#random = random;
    this.#topic = topic;
    // What a marker's key looks like, and its half; a compacted topic takes no record without a key.
    const keys = ["", "\0\0\0\0", "\0\0", "\0\0\0\x01", "a", "b", "some key"].map((key) => Buffer.from(key));
    this.#keys = compacted ? keys : [...keys, null];
  }

  async write(steps: number): Promise<void> {
    if (this.#producers.length === 0) this.#producers = await this.#open();
    for (let step = 0; step < steps; step++) await this.#step();
  }

  async finish(): Promise<void> {
    for (const one of this.#producers) await this.#end(one);
  }

  #open(): Promise<Turn[]> {
    const compressions = ["none", "gzip", "snappy", "lz4", "zstd"] as const;
    return Promise.all(
      [...compressions, "none" as const].map(async (compression, index) => {
        const transactional = index < compressions.length;
        const named = transactional ? { transactionalId: `${this.#topic}-${index}` } : {};
        const producer = await this.#oracle.producer({ compression, ...named });
        return { producer, transactional, open: false, sent: 0 };
      }),
    );
  }

  async #step(): Promise<void> {
    const one = this.#producers[this.#random.below(this.#producers.length)]!;
    if (one.open && this.#random.below(3) === 0) return await this.#end(one);
    if (one.transactional && !one.open) {
      await one.producer.begin();
      one.open = true;
    }
    const records = Array.from({ length: 1 + this.#random.below(20) }, () => this.#record());
    await one.producer.send(...records);
    if (one.transactional) one.sent += records.length;
    else this.committed += records.length;
  }

  async #end(one: Turn): Promise<void> {
    if (!one.open) return;
    const commits = this.#random.below(2) === 0;
    await one.producer[commits ? "commit" : "abort"]();
    if (commits) this.committed += one.sent;
    one.open = false;
    one.sent = 0;
  }

  #record(): OutgoingRecord {
    const random = this.#random;
    const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
    const far = oneOf([0, 0, 0, 2 ** 33, 2 ** 39]);
    return {
      topic: this.#topic,
      partition: random.below(partitions),
      timestamp: 1_000_000_000_000 + random.below(1000) - far,
      key: oneOf(this.#keys),
      value: oneOf([null, Buffer.alloc(0), Buffer.from("short"), Buffer.alloc(random.below(5000), `text ${far} `)]),
      headers: oneOf([
        [],
        [],
        [["name", Buffer.from("value")]],
        [
          ["a", null],
          ["__proto__", Buffer.alloc(4)],
          ["a", Buffer.from("twice")],
        ],
      ]),
    };
  }
}

/** Many cuts, with fetches of all sizes. */
async function compare(bootstrap: string, oracle: Oracle, random: SeededRandom, topic: string): Promise<void> {
  for (const isolation of ["read_committed", "read_uncommitted"] as const) {
    const expected = await oracle.read(topic, { isolation });
    assert.ok(expected.length > 10);
    for (const fetchBytes of [1, 200, 5_000, 256 * 1024]) {
      const client = createKafkaClient({ brokers: [bootstrap], clientId: "test" });
      try {
        const source = createKafkaSource({ topics: [topic], startFrom: "earliest", isolation }, client, {
          bounded: true,
          clock: systemClock,
          fetchBytes,
        });
        await compareCuts(source, random, expected, isolation);
      } finally {
        await client.close();
      }
    }
  }
}

async function compareCuts(
  source: Source,
  random: SeededRandom,
  expected: readonly OracleRecord[],
  isolation: OracleIsolation,
): Promise<void> {
  for (const { id, identity, start, end } of await source.discover([])) {
    const wanted = expected.filter(({ partition }) => id.endsWith(`/${partition}`));
    for (let from = start; from < end; ) {
      const to = Math.min(end, from + 1 + random.below(random.below(3) === 0 ? 200 : 12));
      const what = `${isolation}: ${id} from ${from} to ${to}`;
      assert.deepEqual(
        await readRange(source, { id, identity, from, to }),
        wanted.filter(({ offset }) => offset >= from && offset < to),
        what,
      );
      from = to;
    }
    assert.deepEqual(
      await readRange(source, { id, identity, from: start, to: end }),
      wanted,
      `${isolation}: all of ${id}`,
    );
  }
}
