import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import * as snappyjs from "snappyjs";
import { compress, compressionTypes, decompress, InflationError } from "./codecs.ts";

const limit = 1 << 20;

/** Bytes that repeat themselves at all distances, and bytes that do not. */
const texts = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.nat(400)).map(([unit, times]) => repeat(unit, times)),
      fc.nat(70_000).map((length) => Uint8Array.from({ length }, (_, n) => (n * n) >> 7)),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => Buffer.concat([...pieces, ...pieces.slice(0, 2)]));

function repeat(unit: Uint8Array, times: number): Uint8Array {
  return Buffer.concat(Array.from({ length: times }, () => unit));
}

for (const [type, name] of compressionTypes.entries()) {
  suite(name, () => {
    test("what is compressed comes back", () => {
      fc.assert(
        fc.property(texts, (bytes) => {
          assert.deepEqual(decompress(type, Buffer.from(compress(name, bytes)), limit), bytes);
        }),
        { numRuns: 60 },
      );
    });
    if (name === "none") return;
    test("a batch over the limit is refused, one at it is not", () => {
      const bytes = Buffer.alloc(64 * 1024, "a");
      const small = Buffer.from(compress(name, bytes));
      assert.ok(small.length < 4000);
      assert.equal(decompress(type, small, bytes.length).length, bytes.length);
      assert.throws(() => decompress(type, small, bytes.length - 1), InflationError);
    });
    test("whatever else is given is refused, or gives something below the limit", () => {
      fc.assert(
        fc.property(texts, fc.nat(), fc.nat(255), (bytes, at, byte) => {
          const broken = Buffer.from(compress(name, bytes));
          broken[at % broken.length] = byte;
          try {
            assert.ok(decompress(type, broken, limit).length <= limit);
          } catch (error) {
            assert.ok(error instanceof Error && error.name !== "AssertionError");
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

test("an unknown type is refused", () => {
  assert.throws(() => decompress(7, Buffer.alloc(3), limit), /type 7/);
});

test("what other writers give: bare snappy, several blocks, several members of gzip", () => {
  const bytes = Buffer.from("to be or not to be, that is the question ".repeat(50));
  const twice = Buffer.concat([bytes, bytes]);
  assert.deepEqual(decompress(2, snappyjs.compress(bytes), limit), bytes);
  const framed = Buffer.from(compress("snappy", bytes));
  assert.deepEqual(decompress(2, Buffer.concat([framed, framed.subarray(16)]), limit), twice);
  assert.deepEqual(decompress(1, Buffer.concat([gzipSync(bytes), gzipSync(bytes)]), limit), twice);
});
