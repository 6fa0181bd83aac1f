import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { LossError } from "../../../errors.ts";
import type { RecordBatch } from "../../../ports/source.ts";
import type { AbortedTransaction } from "./aborted.ts";
import { compress, compressionTypes } from "./codecs.ts";
import { Decoder } from "./decode.ts";
import { type PlainBatch, type PlainRecord, repair, writeBatch, writeControlBatch } from "./test-support.ts";

const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };
const decoder = (maxBatchBytes = 1 << 20) => new Decoder("topic/3", { maxBatchBytes });

function decode(
  records: Buffer,
  { from, to } = everything,
  aborted: readonly AbortedTransaction[] = [],
  by = decoder(),
): { records: PlainRecord[]; next: number[]; errors: string[] } {
  const found: PlainRecord[] = [];
  const next: number[] = [];
  const errors: string[] = [];
  for (const batch of by.decode({ records, aborted }, from, to)) {
    for (let row = 0; row < batch.count; row += 1) {
      if (batch.errors?.has(row)) errors.push(`${batch.offsets[row]}: ${batch.errors.get(row)}`);
      else found.push(plain(batch, row));
    }
    next.push(batch.next);
  }
  return { records: found, next, errors };
}

function plain(batch: RecordBatch, row: number): PlainRecord {
  const part = (start: number, end: number) => (start < 0 ? null : Buffer.from(batch.bytes.subarray(start, end)));
  return {
    offset: batch.offsets[row]!,
    timestamp: batch.timestamps![row]!,
    key: part(batch.keyStart![row]!, batch.keyEnd![row]!),
    value: part(batch.valueStart[row]!, batch.valueEnd[row]!),
    headers: batch.headers!(row).map(([name, bytes]) => [name, bytes && Buffer.from(bytes)]),
  };
}

const record = (offset: number, value: string | null, rest: Partial<PlainRecord> = {}): PlainRecord => ({
  offset,
  timestamp: 1000 + offset,
  key: null,
  value: value === null ? null : Buffer.from(value),
  headers: [],
  ...rest,
});

const batchOf = (records: readonly PlainRecord[], rest: Partial<PlainBatch> = {}) =>
  writeBatch({ baseOffset: records[0]!.offset, lastOffset: records.at(-1)!.offset, records, ...rest });

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.constant(Buffer.alloc(4)),
  fc.nat(20_000).map((length) => Buffer.alloc(length, "x")),
);
const nullable = fc.option(bytes.map((one) => Buffer.from(one)));
const headers = fc.array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom("__proto__", "twice")), nullable), {
  maxLength: 3,
});

/** Batches as a log holds them: with gaps within and between, of each compression, with times far apart. */
const logs = fc
  .array(
    fc.record({
      gap: fc.nat(5),
      tail: fc.nat(3),
      type: fc.nat(compressionTypes.length - 1),
      baseTimestamp: fc.integer({ min: 0, max: 2 ** 45 }),
      appended: fc.option(fc.integer({ min: 0, max: 2 ** 45 })),
      records: fc.array(
        fc.record({
          gap: fc.oneof(fc.constant(0), fc.nat(300)),
          delta: fc.oneof(fc.integer(), fc.integer({ min: -(2 ** 46), max: 2 ** 46 })),
          key: nullable,
          value: nullable,
          headers,
        }),
        { maxLength: 8 },
      ),
    }),
    { maxLength: 6 },
  )
  .map((shapes) => {
    let offset = 5_000_000_000;
    const log: PlainRecord[] = [];
    const batches = shapes.map(({ gap, tail, type, baseTimestamp, appended, records: rows }) => {
      const baseOffset = offset + gap;
      let at = baseOffset;
      const records = rows.map(({ gap, delta, key, value, headers }) => {
        const row = { offset: at + gap, timestamp: baseTimestamp + delta, key, value, headers };
        at = row.offset + 1;
        return row;
      });
      const lastOffset = at + tail;
      offset = lastOffset + 1;
      log.push(...records.map((row) => (appended === null ? row : { ...row, timestamp: appended })));
      const name = compressionTypes[type]!;
      return writeBatch({
        baseOffset,
        lastOffset,
        records,
        baseTimestamp,
        maxTimestamp: appended ?? baseTimestamp,
        attributes: type | (appended === null ? 0 : 8),
        compress: (bytes) => compress(name, bytes),
      });
    });
    return { log, batches, end: offset };
  });

suite("record batches", () => {
  test("any log comes back, all of it and any range of it", () => {
    fc.assert(
      fc.property(logs, fc.nat(), fc.nat(), ({ log, batches, end }, a, b) => {
        const all = Buffer.concat(batches);
        assert.deepEqual(decode(all).records, log);
        const start = 5_000_000_000;
        const from = start + (a % (end - start + 1));
        const to = from + (b % (end - from + 1));
        const part = decode(all, { from, to });
        assert.deepEqual(
          part.records,
          log.filter(({ offset }) => offset >= from && offset < to),
        );
        if (batches.length > 0 && from < to) assert.equal(part.next.at(-1), to);
      }),
    );
  });

  test("a batch that is cut short is left for the next fetch", () => {
    const whole = batchOf([record(7, "a"), record(8, "b")]);
    const next = batchOf([record(9, "c")]);
    for (let length = 0; length < next.length; length += 1) {
      const got = decode(Buffer.concat([whole, next.subarray(0, length)]));
      assert.deepEqual([got.records.length, got.next], [2, [9]]);
    }
    assert.deepEqual(decode(whole.subarray(0, whole.length - 1)).next, []);
  });

  test("gaps count: after compaction, and of empty batches", () => {
    const empty = writeBatch({ baseOffset: 0, lastOffset: 41, records: [] });
    assert.deepEqual(decode(empty), { records: [], next: [42], errors: [] });
    const holes = writeBatch({ baseOffset: 0, lastOffset: 9, records: [record(3, "a"), record(5, "b")] });
    assert.deepEqual(decode(holes, { from: 6, to: 8 }), { records: [], next: [8], errors: [] });
  });

  test("all batches of a response come at once, unless they are large", () => {
    const small = Array.from({ length: 50 }, (_, n) => batchOf([record(n, "small")]));
    assert.deepEqual(decode(Buffer.concat(small)).next, [50]);
    const large = Array.from({ length: 5 }, (_, n) =>
      batchOf([record(n, "x".repeat(400_000))], { attributes: 3, compress: (bytes) => compress("lz4", bytes) }),
    );
    const got = decode(Buffer.concat(large));
    assert.deepEqual(got.next, [3, 5]);
    assert.deepEqual(
      got.records.map(({ offset }) => offset),
      [0, 1, 2, 3, 4],
    );
  });
});

suite("transactions", () => {
  const rows = (offset: number, producerId: bigint, key: Buffer | null = null) =>
    batchOf([record(offset, `${producerId} at ${offset}`, { key })], { producerId, attributes: 0x10 });
  const offsets = (log: readonly Buffer[], aborted: readonly AbortedTransaction[], from = 0) =>
    decode(Buffer.concat(log), { ...everything, from }, aborted).records.map(({ offset }) => offset);

  test("interleaved ones are told apart, however the list of aborted ones is ordered", () => {
    const log = [
      rows(0, 1n),
      rows(1, 2n),
      rows(2, 3n),
      writeControlBatch(3, 1n, "abort"),
      rows(4, 1n),
      rows(5, 2n),
      writeControlBatch(6, 2n, "abort"),
      writeControlBatch(7, 1n, "commit"),
      rows(8, 2n),
      rows(9, 1n),
      batchOf([record(10, "of no transaction")], { producerId: 1n }),
      writeControlBatch(11, 1n, "abort"),
      writeControlBatch(12, 3n, "commit"),
      writeControlBatch(13, 2n, "commit"),
    ];
    const aborted = [
      { producerId: 1n, firstOffset: 9 },
      { producerId: 2n, firstOffset: 1 },
      { producerId: 1n, firstOffset: 0 },
    ];
    for (const list of [aborted, aborted.toReversed()]) {
      assert.deepEqual(offsets(log, list), [2, 4, 8, 10]);
      assert.deepEqual(offsets(log.slice(5), list, 5), [8, 10]);
    }
    assert.deepEqual(offsets(log, []), [0, 1, 2, 4, 5, 8, 9, 10]);
    assert.deepEqual(decode(Buffer.concat(log), everything, aborted).next, [14]);
  });

  test("a key of four zero bytes is an ordinary one, though a marker's looks like it", () => {
    const log = [
      rows(0, 1n, Buffer.alloc(4)),
      rows(1, 1n),
      writeControlBatch(2, 1n, "abort"),
      rows(3, 2n, Buffer.alloc(4)),
    ];
    assert.deepEqual(offsets(log, [{ producerId: 1n, firstOffset: 0 }]), [3]);
    assert.deepEqual(offsets([rows(0, 1n, Buffer.alloc(4))], []), [0]);
  });
});

suite("what cannot be read", () => {
  const isLoss = (code: string, offset: number) => (error: unknown) =>
    error instanceof LossError &&
    error.code === code &&
    error.wayOut !== undefined &&
    new RegExp(`offset ${offset} of topic/3`, "i").test(error.message) &&
    error.place.partition === "topic/3" &&
    error.place.offset === offset;

  test("a flipped bit anywhere that the check sum covers", () => {
    const good = batchOf([record(0, "a")]);
    const batch = batchOf([record(1, "some value"), record(2, "another")]);
    for (let at = 17; at < batch.length; at += 1) {
      const bad = Buffer.from(batch);
      bad[at]! ^= 1 << (at % 8);
      assert.throws(() => decode(Buffer.concat([good, bad])), isLoss("kafka-batch-corrupt", 1), `byte ${at}`);
    }
  });

  test("a length that is impossible, an unknown format", () => {
    for (const [at, byte] of [
      [8, 0xff],
      [16, 3],
    ] as const) {
      const bad = batchOf([record(1, "a")]);
      bad[at] = byte;
      assert.throws(() => decode(bad), isLoss("kafka-batch-corrupt", 1));
    }
    const short = batchOf([record(1, "a")]);
    short.writeInt32BE(10, 8);
    assert.throws(() => decode(short), isLoss("kafka-batch-corrupt", 1));
  });

  test("message formats v0 and v1", () => {
    for (const version of [0, 1]) {
      const old = Buffer.alloc(40);
      old.writeInt32BE(9, 4);
      old.writeInt32BE(28, 8);
      old[16] = version;
      assert.throws(() => decode(old), isLoss("kafka-message-format", 9));
    }
  });

  test("a batch whose records are not what it says, though its check sum is right", () => {
    const batch = () => batchOf([record(4, "abc"), record(5, "defg")]);
    const bytes = batch();
    const broken: [name: string, at: number, byte: number][] = [
      ["a record's length", 61, 0x7e],
      ["a negative length", 61, 0x0d],
      ["a varint without end", bytes.length - 1, 0xff],
      ["offsets that do not ascend", 76, 0],
      ["a key's length", 66, 0x40],
      ["a value's length", 67, 0x40],
      ["fewer records", 60, 1],
      ["more records", 60, 3],
      ["very many records", 57, 0x7f],
      ["a negative count", 57, 0xff],
    ];
    for (const [name, at, byte] of broken) {
      const bad = batch();
      bad[at] = byte;
      if (name !== "a varint without end") {
        assert.throws(() => decode(repair(bad)), isLoss("kafka-batch-corrupt", 4), name);
        continue;
      }
      // It is the count of headers, which are read only on demand.
      assert.throws(() => decode(repair(bad)), RangeError, name);
    }
  });

  test("compression that is broken or unknown", () => {
    const zstd = { attributes: 4, compress: () => Buffer.from("no zstd at all") };
    assert.throws(() => decode(batchOf([record(4, "abc")], zstd)), isLoss("kafka-batch-corrupt", 4));
    assert.throws(() => decode(batchOf([record(4, "abc")], { attributes: 6 })), isLoss("kafka-batch-corrupt", 4));
  });

  test("a batch that inflates too far is one row, and those around it are read", () => {
    const batches = (["gzip", "snappy", "lz4", "zstd"] as const).map((name, n) =>
      batchOf([record(10 * n, "a".repeat(500_000)), record(10 * n + 1, "b".repeat(600_000))], {
        attributes: n + 1,
        compress: (bytes) => compress(name, bytes),
      }),
    );
    const log = Buffer.concat([...batches, batchOf([record(50, "after")])]);
    const got = decode(log, { ...everything, from: 1 });
    assert.deepEqual(
      got.records.map(({ offset }) => offset),
      [50],
    );
    assert.equal(got.next.at(-1), 51);
    assert.equal(got.errors.length, 4);
    assert.match(got.errors[0]!, /^1: the batch of 2 records at offset 0 .* more than 1048576 bytes/);
    assert.equal(decode(log, everything, [], decoder(2_000_000)).records.length, 9);
  });
});
