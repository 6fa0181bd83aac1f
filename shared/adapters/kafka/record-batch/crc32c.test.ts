import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { crc32c, crc32cOfBoth } from "./crc32c.ts";

/** The definition, bit by bit. */
function byDefinition(bytes: Uint8Array): number {
  let remainder = -1;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0x82f63b78 : 0);
  }
  return ~remainder >>> 0;
}

test("the values of RFC 3720, B.4", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  assert.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, n) => n))), 0x46dd794e);
  assert.equal(crc32c(new Uint8Array()), 0);
});

test("any piece of any buffer, however it is aligned", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), fc.nat(20), (bytes, start, cut) => {
      const from = Math.min(start, bytes.length);
      const to = Math.max(from, bytes.length - cut);
      assert.equal(crc32c(bytes, from, to), byDefinition(bytes.subarray(from, to)));
      assert.equal(crc32c(bytes.subarray(from, to)), byDefinition(bytes.subarray(from, to)));
    }),
  );
});

test("the check sum of two parts is that of the whole", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), fc.uint8Array({ maxLength: 3000 }), (first, second) => {
      const whole = Buffer.concat([first, second]);
      assert.equal(crc32cOfBoth(crc32c(first), crc32c(second), second.length), crc32c(whole));
    }),
  );
  const long = Buffer.alloc(5_000_001, "abc");
  assert.equal(crc32cOfBoth(crc32c(long, 0, 40), crc32c(long, 40), long.length - 40), crc32c(long));
});
