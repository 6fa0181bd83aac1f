import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { readBatches } from "../../../../test/support/kafka/plain-batch.ts";
import { textColumn } from "../../../../test/support/text-column.ts";
import { JsonColumns } from "../../../json-bytes/columns.ts";
import { BatchBuffers } from "./batch-buffers.ts";
import { type Compression, compressionTypes } from "./codecs.ts";
import { crc32c } from "./crc32c.ts";
import { BatchEncoder, encodeHeaders, noTimestamp, sequenceAfter, splitBatches, stampBatch } from "./encode.ts";

interface Sample {
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: string | Uint8Array | null;
  readonly headers: readonly (readonly [string, string | Uint8Array | null])[];
}

const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 60, maxLength: 200 }));
const text = fc.oneof(fc.string({ maxLength: 70 }), fc.string({ unit: "grapheme", maxLength: 70 }));
const time = fc.oneof(
  fc.constant(noTimestamp),
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }),
  fc.integer({ min: 0, max: 8.64e15 }),
  fc.constantFrom(0, 2 ** 28, 2 ** 29, 2 ** 29 - 1, 2 ** 31, 2 ** 32, 8.64e15),
);
const sample: fc.Arbitrary<Sample> = fc.record({
  timestamp: time,
  key: fc.option(bytes),
  value: fc.option(fc.oneof(bytes, text)),
  headers: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.tuple(text, fc.option(fc.oneof(bytes, text))), { maxLength: 3 }) },
  ),
});

function add(encoder: BatchEncoder, { timestamp, key, value, headers }: Sample, most = Number.MAX_SAFE_INTEGER) {
  const parts = { key: Buffer.from(key ?? []), keyStart: 0, keyBytes: key === null ? -1 : key.length };
  return encoder.add({ timestamp, ...parts, value, headers: encodeHeaders(headers) }, most);
}

function encode(samples: readonly Sample[], compression: Compression = "none"): Buffer {
  const encoder = new BatchEncoder();
  for (const one of samples) add(encoder, one);
  return encoder.take(compression);
}

const asBuffer = (value: string | Uint8Array | null) => (value === null ? null : Buffer.from(value as string));

test("what is encoded is read back, for all codecs", () => {
  const codec = fc.constantFrom(...compressionTypes);
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 150 }), codec, (samples, compression) => {
      const [batch, ...others] = readBatches(encode(samples, compression));
      assert.equal(others.length, 0);
      const expected = samples.map(({ timestamp, key, value, headers }, offset) => ({
        offset,
        timestamp,
        key: key && Buffer.from(key),
        value: asBuffer(value),
        headers: headers.map(([name, one]) => [Buffer.from(name).toString(), asBuffer(one)]),
      }));
      assert.deepEqual(batch!.records, expected);
      assert.equal(batch!.maxTimestamp, Math.max(...samples.map(({ timestamp }) => timestamp)));
      assert.equal(batch!.transactional, true);
    }),
  );
});

test("the sizes that an encoder tells are those of the batch", () => {
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 20 }), (samples) => {
      const encoder = new BatchEncoder();
      let told = 0;
      for (const one of samples) told = add(encoder, one);
      assert.equal(encoder.bytes, told);
      assert.equal(encoder.count, samples.length);
      assert.equal(encoder.take("none").length, told);
    }),
  );
});

test("a record that would make a batch too long leaves it as it was", () => {
  const small = { timestamp: 5, key: null, value: "small", headers: [] };
  const encoder = new BatchEncoder();
  const most = add(encoder, small) + 10;
  assert.equal(add(encoder, { ...small, value: "x".repeat(5000) }, most) > most, true);
  assert.equal(add(encoder, { ...small, value: "ü".repeat(2) }, most - 1) > most - 1, true);
  assert.deepEqual(encoder.take("none"), encode([small]));
  add(encoder, { ...small, timestamp: 7 });
  assert.equal(readBatches(encoder.take("none"))[0]?.records[0]?.timestamp, 7);
});

test("batches do not share their bytes", () => {
  const encoder = new BatchEncoder();
  const taken = compressionTypes.map((compression) => {
    add(encoder, { timestamp: 1, key: null, value: compression.repeat(100), headers: [] });
    return encoder.take(compression);
  });
  const values = taken.map((batch) => readBatches(batch)[0]?.records[0]?.value?.toString());
  assert.deepEqual(
    values,
    compressionTypes.map((compression) => compression.repeat(100)),
  );
});

test("batches in memory that others have used are the same", () => {
  const buffers = new BatchBuffers();
  const codec = fc.constantFrom<Compression>("none", "zstd");
  fc.assert(
    fc.property(fc.array(fc.array(sample, { minLength: 1, maxLength: 40 }), { maxLength: 4 }), codec, (all, codec) => {
      const encoder = new BatchEncoder(buffers);
      const taken = all.map((samples) => {
        for (const one of samples) add(encoder, one);
        return encoder.take(codec);
      });
      for (const [index, samples] of all.entries()) assert.deepEqual(taken[index], encode(samples, codec));
      for (const batch of taken) if (codec === "none") batch.fill(0xee);
      encoder.release();
    }),
  );
});

test("a value that is measured gives the record of its text", () => {
  const words = fc.oneof(
    text,
    fc.integer({ min: 0, max: 9000 }).map((length) => "x".repeat(length)),
  );
  const row = fc.record({ time, key: bytes, word: words.map((one) => one.toWellFormed()), n: fc.double() });
  const most = fc.constantFrom(300, 3000, Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 40 }),
      most,
      fc.constantFrom([], [["h", "x"]] as const),
      (rows, most, own) => {
        const headers = encodeHeaders(own);
        const json = new JsonColumns();
        const fields = [
          { name: "word", column: textColumn(rows.map(({ word }) => word)) },
          { name: "n", column: Float64Array.from(rows, ({ n }) => n) },
        ];
        json.begin({ length: rows.length, fields });
        const [measured, plain] = [new BatchEncoder(), new BatchEncoder()];
        for (const [index, { time, key, word, n }] of rows.entries()) {
          json.row = index;
          const parts = { timestamp: time, key: Buffer.from(key), keyStart: 0, keyBytes: key.length, headers };
          const expected = plain.add({ ...parts, value: JSON.stringify({ word, n }) }, most);
          assert.equal(measured.add({ ...parts, value: json }, most), expected);
        }
        assert.equal(measured.count, plain.count);
        if (plain.count > 0) assert.deepEqual(measured.take("none"), plain.take("none"));
      },
    ),
  );
});

test("what compression makes longer stays as it is", () => {
  const one = { timestamp: 1, key: null, value: "x", headers: [] };
  for (const compression of compressionTypes) assert.deepEqual(encode([one], compression), encode([one]));
  const many = Array.from({ length: 100 }, () => one);
  for (const [type, compression] of compressionTypes.entries())
    assert.equal(readBatches(encode(many, compression))[0]?.compression, type);
});

test("a stamp says who sends a batch, under a checksum that the broker believes", () => {
  const batch = encode([{ timestamp: 1, key: null, value: "x", headers: [] }]);
  stampBatch(batch, { producerId: 2n ** 40n, producerEpoch: 7 }, 2 ** 31 - 1);
  const [read] = readBatches(batch);
  assert.deepEqual([read!.producerId, read!.producerEpoch, read!.sequence], [2n ** 40n, 7, 2 ** 31 - 1]);
  assert.equal(read!.crc, crc32c(batch.subarray(21)));
  assert.notEqual(read!.crc, crc32(batch.subarray(21)));
});

test("sequences go round", () => {
  assert.equal(sequenceAfter(0, 5), 5);
  assert.equal(sequenceAfter(2 ** 31 - 1, 1), 0);
  assert.equal(sequenceAfter(2 ** 31 - 3, 5), 2);
});

test("batches that lie together are found; anything else is not", () => {
  const one = encode([{ timestamp: 1, key: null, value: "x", headers: [] }]);
  const two = encode(Array.from({ length: 3 }, () => ({ timestamp: 1, key: null, value: "x", headers: [] })));
  const both = Buffer.concat([one, two]);
  assert.deepEqual(splitBatches(both), [
    { batch: one, records: 1 },
    { batch: two, records: 3 },
  ]);
  assert.deepEqual(splitBatches(Buffer.alloc(0)), []);
  for (const wrong of [both.subarray(0, -1), both.subarray(1), Buffer.alloc(100), both.subarray(0, 30)])
    assert.equal(splitBatches(wrong), undefined);
});
