import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Key, KeyPart } from "../pipeline/topology.ts";
import { ByteWriter, viewOf } from "./bytes.ts";
import { decodeKey, encodeKey, hashKey, hashTagged, keyGroupOf, whyNoKey } from "./key-codec.ts";

function bytesOf(key: Key): Buffer {
  const writer = new ByteWriter();
  encodeKey(writer, key);
  return writer.view();
}

const part: fc.Arbitrary<KeyPart> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.bigInt(),
);
const key: fc.Arbitrary<Key> = fc.oneof(part, fc.array(part, { maxLength: 4 }));

test("a key comes back as it was", () => {
  fc.assert(
    fc.property(key, (value) => {
      const bytes = bytesOf(value);
      const shifted = Buffer.concat([Buffer.of(9), bytes, Buffer.of(9)]);
      assert.deepStrictEqual(decodeKey(shifted, 1, shifted.length - 1), value);
    }),
  );
});

test("keys that differ, even in type alone, have bytes that differ", () => {
  const keys: Key[] = [
    1,
    "1",
    true,
    1n,
    ["1"],
    [1],
    [["1"], "1"].flat(),
    "",
    [],
    [""],
    ["", ""],
    false,
    0,
    "true",
    [1, 2],
    [12],
    "__proto__",
  ];
  const texts = keys.map((value) => bytesOf(value).toString("hex"));
  assert.equal(new Set(texts).size, keys.length);
});

test("-0 is 0", () => {
  assert.deepEqual(bytesOf(-0), bytesOf(0));
  assert.deepEqual(bytesOf([-0]), bytesOf([0]));
});

test("a key of a megabyte, and any Unicode", () => {
  for (const text of ["x".repeat(2 ** 20), "é€😀".repeat(1000), "\u0000"]) {
    const bytes = bytesOf(text);
    assert.equal(decodeKey(bytes, 0, bytes.length), text);
  }
});

test("what cannot be a key is told so", () => {
  const refused: [unknown, string][] = [
    [{}, "an object"],
    [null, "null"],
    [undefined, "undefined"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    ["\ud800", "a string with a lone surrogate"],
    [Symbol.iterator, "a symbol"],
    [new Date(0), "an object"],
    [[["a"]], "a tuple with an array"],
    [["a", {}], "a tuple with an object"],
    [["a", "\udc00"], "a tuple with a string with a lone surrogate"],
    [new Array(1), "a tuple with undefined"],
  ];
  for (const [value, reason] of refused) assert.equal(whyNoKey(value), reason);
  fc.assert(fc.property(key, (value) => assert.equal(whyNoKey(value), undefined)));
});

test("the hash is MurmurHash3", () => {
  const vectors: [string, number][] = [
    ["", 0],
    ["a", 0x3c2569b2],
    ["hello", 0x248bfa47],
    ["The quick brown fox jumps over the lazy dog", 0x2e4ff723],
  ];
  for (const [text, hash] of vectors) {
    const bytes = Buffer.from(`..${text}.`);
    assert.equal(hashKey(bytes, 2, bytes.length - 1) >>> 0, hash, text);
  }
});

test("the hash of a key whose tag is given apart is the same", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
      for (const behind of [0, 1, 9]) {
        const moved = Buffer.concat([Buffer.of(9), bytes.subarray(1), Buffer.alloc(behind, 9)]);
        assert.equal(hashTagged(bytes[0]!, viewOf(moved), 1, bytes.length), hashKey(bytes, 0, bytes.length));
      }
    }),
  );
});

test("keys spread evenly over key groups", () => {
  const sizes = new Array<number>(128).fill(0);
  for (let index = 0; index < 128 * 200; index++) {
    const bytes = bytesOf(`user-${index}`);
    sizes[keyGroupOf(hashKey(bytes, 0, bytes.length), 128)]!++;
  }
  assert.ok(Math.min(...sizes) > 130 && Math.max(...sizes) < 280, `${Math.min(...sizes)}…${Math.max(...sizes)}`);
});
