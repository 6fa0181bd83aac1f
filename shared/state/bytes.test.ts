import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteReader, ByteWriter, MalformedError } from "./bytes.ts";

test("what is written is read again", () => {
  const values = fc.record({
    naturals: fc.array(fc.maxSafeNat()),
    float: fc.double(),
    text: fc.string({ unit: "grapheme" }),
    raw: fc.uint8Array({ maxLength: 100 }),
  });
  fc.assert(
    fc.property(values, ({ naturals, float, text, raw }) => {
      const writer = new ByteWriter(1);
      for (const natural of naturals) writer.varint(natural);
      writer.float64(float);
      writer.text(text);
      writer.uint32(raw.length);
      writer.raw(raw);
      const reader = new ByteReader(writer.view());
      for (const natural of naturals) assert.equal(reader.varint(), natural);
      assert.equal(reader.float64(), float);
      assert.equal(reader.text(), text);
      const size = reader.uint32();
      const start = reader.skip(size);
      assert.deepEqual(Uint8Array.from(reader.bytes.subarray(start, reader.at)), raw);
      assert.equal(reader.left, 0);
    }),
  );
});

test("many at once are written as one by one, and read again", () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(0x7fffffff)), { maxLength: 50 });
  const floats = fc.array(fc.double(), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(sizes, floats, (sizes, floats) => {
      const [one, all] = [new ByteWriter(1), new ByteWriter(1)];
      for (const size of sizes) one.varint(size);
      all.varints(Int32Array.from(sizes));
      const order = Int32Array.from(floats, (_, at) => floats.length - 1 - at);
      for (const value of floats.toReversed().slice(1)) one.float64(value);
      all.float64s(Float64Array.from(floats), order, 1, floats.length);
      assert.deepEqual(all.view(), one.view());
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 50 }), (sizes) => {
      const writer = new ByteWriter(1);
      writer.varints(Int32Array.from(sizes));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      writer.raw(Buffer.alloc(total));
      const reader = new ByteReader(writer.view());
      const ends = reader.ends(sizes.length);
      assert.deepEqual(
        [...ends.slice(1)].map((end, at) => end - ends[at]!),
        sizes,
      );
      assert.equal(reader.left, total);
      if (total > 0)
        assert.throws(() => new ByteReader(writer.view(), 0, writer.length - 1).ends(sizes.length), MalformedError);
    }),
  );
  assert.throws(() => new ByteReader(Buffer.alloc(9, 0xff)).ends(1), MalformedError);
});

test("nothing is read past the end", () => {
  const reader = new ByteReader(Buffer.of(1, 2, 3, 0x80), 0, 3);
  assert.throws(() => reader.uint32(), MalformedError);
  assert.throws(() => reader.float64(), MalformedError);
  reader.skip(3);
  assert.throws(() => reader.byte(), MalformedError);
});

test("a number that is too large, or never ends, is refused", () => {
  assert.throws(() => new ByteReader(Buffer.alloc(20, 0xff)).varint(), MalformedError);
  assert.throws(
    () => new ByteReader(Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)).varint(),
    MalformedError,
  );
});

test("a count beyond what follows is refused before anything is allocated for it", () => {
  const writer = new ByteWriter();
  writer.varint(Number.MAX_SAFE_INTEGER);
  assert.throws(() => new ByteReader(writer.view()).count(), MalformedError);
  assert.throws(() => new ByteReader(Buffer.of(2, 0, 0, 0)).count(2), MalformedError);
});

test("all NaNs are the same bytes", () => {
  const odd = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0123n]).buffer)[0]!;
  const [a, b] = [new ByteWriter(), new ByteWriter()];
  a.float64(odd);
  b.float64(Number.NaN);
  assert.deepEqual(a.view(), b.view());
});
