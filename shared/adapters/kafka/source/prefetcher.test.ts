import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { FakeTopics, refusal } from "../../../../test/support/kafka/fake-topics.ts";
import type { Source, SourceRange } from "../../../ports/source.ts";
import { recordsOf } from "../../../testing/source-scenario.ts";
import { createKafkaSource } from "./source.ts";

class Fixture {
  readonly topics = new FakeTopics();
  readonly logs;

  constructor(partitions = 1) {
    this.logs = this.topics.create("t", partitions);
  }

  open(stays: boolean, fetchBytes = 300): Source {
    const settings = { topics: ["t"], startFrom: "earliest", isolation: "read_committed" } as const;
    const surroundings = { bounded: false, clock: { now: () => 0, sleep: async () => {} }, timeoutMs: 100 };
    return createKafkaSource(settings, this.topics.client(), { ...surroundings, stays, fetchBytes });
  }

  count(method: "fetch" | "fetchEach"): number {
    return this.topics.calls.filter((call) => call.method === method).length;
  }
}

/** Until what is under way by itself has come to rest. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await turn();
}

const values = async (source: Source, range: SourceRange) => (await recordsOf(source, range)).map(({ value }) => value);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `value ${from + n}`);

/** A source that has read the first ten records of a partition of a hundred, and was told that it goes on. */
async function begun(fetchBytes?: number) {
  const fixture = new Fixture();
  const log = fixture.logs[0]!;
  for (let n = 0; n < 100; n += 10) log.append(...numbers(n, n + 10));
  const source = fixture.open(true, fetchBytes);
  const [status] = await source.discover([]);
  const range = (from: number, to: number) => ({ id: status!.id, identity: status!.identity, from, to });
  await values(source, range(0, 10));
  source.prefetch!([range(0, 10)]);
  await settled();
  const fetches = fixture.count("fetch");
  return { fixture, log, source, range, fetchesSince: () => fixture.count("fetch") - fetches };
}

test("what was fetched beforehand need not be fetched", async () => {
  const { log, source, range, fetchesSince } = await begun();
  assert.deepEqual(await values(source, range(10, 85)), numbers(10, 85));
  assert.equal(fetchesSince(), 0);
  source.prefetch!([range(10, 85)]);
  await settled();
  log.append(...numbers(100, 110));
  assert.deepEqual(await values(source, range(85, 110)), numbers(85, 110));
  assert.equal(fetchesSince(), 1, "the rest, which came later");
});

test("what is missing is fetched before the consumer has come to it", async () => {
  const { log, source, range, fetchesSince } = await begun();
  log.append(...numbers(100, 110));
  const batches = source.read(range(10, 110));
  await settled();
  assert.equal(fetchesSince(), 1);
  for await (const _ of batches);
  assert.equal(fetchesSince(), 1);
});

test("a partition that is read elsewhere is not fetched any more, and takes no room", async () => {
  const fixture = new Fixture(2);
  const source = fixture.open(true);
  const statuses = await source.discover([]);
  const [one, other] = statuses.map(({ id, identity }) => ({ id, identity, from: 0, to: 0 }));
  source.prefetch!([one!, other!]);
  source.prefetch!([one!]);
  for (const log of fixture.logs) log.append(...numbers(0, 10));
  await settled();
  const { length } = fixture.topics.calls;
  assert.deepEqual(await values(source, { ...one!, to: 10 }), numbers(0, 10));
  assert.deepEqual(await values(source, { ...other!, to: 10 }), numbers(0, 10));
  const since = fixture.topics.calls.slice(length).filter(({ method }) => method === "fetch");
  assert.deepEqual(
    since.map(({ request }) => request!.partition),
    [1],
  );
});

test("where nobody stays, nothing is fetched beforehand", async () => {
  const fixture = new Fixture();
  fixture.logs[0]!.append("a");
  const source = fixture.open(false);
  const [{ id, identity } = assert.fail()] = await source.discover([]);
  source.prefetch!([{ id, identity, from: 0, to: 0 }]);
  await settled();
  assert.equal(fixture.count("fetchEach"), 0);
});

test("a log that was cut off and went on otherwise is not mistaken for what was fetched (I8, I6)", async () => {
  const { log, source, range } = await begun();
  log.truncate(10);
  log.append(...Array.from({ length: 50 }, (_, n) => `other ${n}`));
  const [{ identity } = assert.fail()] = await source.discover([]);
  const read = await values(source, { ...range(10, 60), identity });
  assert.deepEqual([read[0], read.length], ["other 0", 50]);
});

test("a range that begins elsewhere, and a topic that was made anew, have none of it", async () => {
  for (const change of [{ from: 5 }, { identity: { topicId: "another", leaderEpoch: 0 } }]) {
    const { source, range, fetchesSince } = await begun();
    const read = values(source, { ...range(10, 20), ...change });
    if ("identity" in change) await assert.rejects(read, { code: "kafka-topic-replaced" });
    else assert.deepEqual(await read, numbers(5, 20));
    assert.ok(fetchesSince() > 0);
    source.prefetch!([range(0, 30)]);
    await settled();
    assert.deepEqual(await values(source, range(30, 40)), numbers(30, 40), "it goes on from there");
  }
});

test("what fails is left to whoever reads", async () => {
  const { fixture, source, range, fetchesSince } = await begun();
  fixture.topics.before = (method) => {
    if (method === "fetchEach") throw refusal("DISCONNECTED");
  };
  source.prefetch!([range(10, 20)]);
  await settled();
  fixture.topics.before = () => {};
  assert.deepEqual(await values(source, range(20, 30)), numbers(20, 30));
  assert.ok(fetchesSince() > 0);
});

test("memory is bounded, and nothing is asked for where nothing comes", async () => {
  const fixture = new Fixture(2);
  const large = "x".repeat(512 << 10);
  for (let n = 0; n < 20; n++) fixture.logs[0]!.append(large);
  const source = fixture.open(true);
  const statuses = await source.discover([]);
  source.prefetch!(statuses.map(({ id, identity }) => ({ id, identity, from: 0, to: 0 })));
  await settled();
  // A half of 4 MiB for each partition: four batches for the one, while the other gives none; then a call in vain.
  assert.equal(fixture.count("fetchEach"), 5);
  await source.close();
});

test("any ranges of any logs are read as without (I6)", async () => {
  const size = fc.integer({ min: 1, max: 30 });
  const step = fc.record({
    append: fc.array(size, { maxLength: 4 }),
    take: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 8 }), size, async (steps, batch) => {
    const fixture = new Fixture(2);
    const [source, plain] = [fixture.open(true, batch * 10), fixture.open(false, batch * 10)];
    let positions = [0, 0];
    for (const { append, take } of steps) {
      for (const [n, length] of append.entries())
        fixture.logs[n % 2]!.append(...Array.from({ length }, (_, k) => `${n} ${k}`));
      const statuses = await plain.discover([]);
      const ranges = statuses.map(({ id, identity, end }, n) => {
        const from = positions[n]!;
        return { id, identity, from, to: from + Math.floor((end - from) * take) };
      });
      const read = (one: Source) => Promise.all(ranges.map((range) => recordsOf(one, range)));
      assert.deepEqual(await read(source), await read(plain));
      source.prefetch!(ranges);
      await settled();
      positions = ranges.map(({ to }) => to);
    }
  });
  await fc.assert(property, { numRuns: 50 });
});
