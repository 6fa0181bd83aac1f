import assert from "node:assert/strict";
import { test } from "node:test";
import { murmur2, placeOf } from "./partitioner.ts";

test("murmur2 is that of Kafka's own test", () => {
  const known: [string, number][] = [
    ["21", -973932308],
    ["foobar", -790332482],
    ["a-little-bit-long-string", -985981536],
    ["a-little-bit-longer-string", -1486304829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
    ["abc", 479470107],
  ];
  for (const [text, hash] of known) assert.equal(murmur2(Buffer.from(text)), hash, text);
});

test("only the bytes that count are hashed", () => {
  for (const text of ["", "a", "ab", "abc", "abcd", "abcde"])
    assert.equal(murmur2(Buffer.from(`\xff${text}\xff\xff`, "latin1"), 1, 1 + text.length), murmur2(Buffer.from(text)));
});

test("a place is below the number of places, whatever the sign", () => {
  assert.equal(placeOf(-1, 10), 2147483647 % 10);
  assert.equal(placeOf(-2147483648, 10), 0);
  assert.equal(placeOf(17, 5), 2);
});
