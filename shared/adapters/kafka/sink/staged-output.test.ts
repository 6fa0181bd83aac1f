import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { FakeKafka } from "../../../../test/support/kafka/fake-kafka.ts";
import { type Row, settingsOf } from "../../../../test/support/kafka/sink-settings.ts";
import type { ObjectStore } from "../../../ports/object-store.ts";
import { owner } from "../../../testing/sink-scenario.ts";
import { MemoryObjectStore } from "../../memory/object-store.ts";
import { SeededRandom } from "../../memory/random.ts";
import { systemClock } from "../../system/clock.ts";
import { crc32c } from "../record-batch/crc32c.ts";
import { batchHeaderBytes, stampBatch } from "../record-batch/encode.ts";
import { createKafkaSink } from "./sink.ts";
import { readStaged } from "./staged-output.ts";

const place = { ...owner, epoch: 1 };
const thorough = { into: Buffer.alloc(0), thoroughly: true };

async function sinkOn(objects: ObjectStore) {
  const kafka = new FakeKafka();
  kafka.createTopic("out", 3);
  const ports = { clock: systemClock, random: new SeededRandom(1) };
  const sink = createKafkaSink<Row>(settingsOf(), kafka.client(), objects, ports);
  await sink.open(owner);
  return sink;
}

async function staged() {
  const objects = new MemoryObjectStore();
  const sink = await sinkOn(objects);
  const transaction = await sink.begin({ ...place, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
  transaction.write(Array.from({ length: 50 }, (_, n) => ({ n, key: `key ${n}` })));
  const { range } = (await sink.preCommit(transaction))!.lanes[0]!;
  return { objects, range, bytes: objects.objects.get(range.object)! };
}

test("what an earlier version staged, with a digest of all bytes, is read as it was", async () => {
  const { objects, range, bytes } = await staged();
  const earlier = { ...range, digest: hash("sha256", bytes) };
  const batches = await readStaged(objects, place, earlier, thorough);
  assert.deepEqual(
    batches.map(({ batch }) => batch),
    (await readStaged(objects, place, range, thorough)).map(({ batch }) => batch),
  );
  for (const { batch, checksum } of batches) {
    batch.fill(0, 17, 21); // it had no check sum either
    stampBatch(batch, { producerId: 1n, producerEpoch: 1 }, 0, checksum);
    assert.equal(batch.readUInt32BE(17), crc32c(batch, 21));
  }
  bytes[bytes.length - 1]! ^= 1;
  await assert.rejects(readStaged(objects, place, earlier, thorough), { code: "staged-damaged" });
});

test("any byte that is not what it was is noticed", async () => {
  const { objects, range, bytes } = await staged();
  await readStaged(objects, place, range, thorough);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at]! ^= 64;
    await assert.rejects(readStaged(objects, place, range, thorough), { code: "staged-damaged" }, `byte ${at}`);
    bytes[at]! ^= 64;
  }
});

test("what the broker cannot know of what is not read thoroughly is noticed: any byte of a header", async () => {
  const { objects, range, bytes } = await staged();
  const reading = { ...thorough, thoroughly: false };
  const batches = await readStaged(objects, place, range, reading);
  for (const { batch } of batches)
    for (let at = 0; at < batchHeaderBytes; at++) {
      const byte = Buffer.from(bytes).indexOf(batch) + at;
      bytes[byte]! ^= 64;
      await assert.rejects(readStaged(objects, place, range, reading), { code: "staged-damaged" }, `byte ${byte}`);
      bytes[byte]! ^= 64;
    }
  const [{ batch, checksum }] = batches as [(typeof batches)[0]];
  for (let at = batchHeaderBytes; at < batch.length; at++) {
    const sent = Buffer.from(batch);
    sent[at]! ^= 64;
    stampBatch(sent, { producerId: 1n, producerEpoch: 1 }, 0, checksum);
    assert.notEqual(sent.readUInt32BE(17), crc32c(sent, 21), "the broker's check fails");
  }
});

test("memory that a store has done with is used again, and memory that it may still read is not", async () => {
  const given: { readonly chunk: Uint8Array; readonly was: string }[][] = [];
  let fails = false;
  class Keeping extends MemoryObjectStore {
    override async put(_: string, chunks: readonly Uint8Array[]): Promise<void> {
      given.push(chunks.map((chunk) => ({ chunk, was: Buffer.from(chunk).toString("hex") })));
      if (fails) throw new Error("no answer");
    }
  }
  const sink = await sinkOn(new Keeping());
  const epoch = async (nonce: string) => {
    const transaction = await sink.begin({ ...place, attempt: 1, stage: 0, task: 0, nonce });
    transaction.write(Array.from({ length: 50 }, (_, n) => ({ n, key: `${nonce} ${n}` })));
    await sink.preCommit(transaction).catch(() => transaction.discard?.());
  };
  await epoch("first");
  fails = true;
  await epoch("second");
  fails = false;
  await epoch("third");
  const isAsItWas = given.map((chunks) => chunks.every(({ chunk, was }) => Buffer.from(chunk).toString("hex") === was));
  assert.deepEqual(isAsItWas, [false, true, true]);
});
