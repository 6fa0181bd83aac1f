import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compressFrame, decompressFrame } from "./lz4.ts";
import { compressBlock, decompressBlock } from "./lz4-block.ts";

const tooLong = () => new Error("too long");
const inflate = (hex: string, limit = 1 << 20) => decompressFrame(Buffer.from(hex, "hex"), limit, tooLong).toString();

test("frames of the reference implementation (`lz4`, 1.9.4)", () => {
  const text = "abcabcabcabcabcabcabcabcabcabc hello";
  // lz4 -c | independent blocks, content check sum
  assert.equal(inflate(frames.plain), text);
  // lz4 -BX -BD --content-size: block check sums, dependent blocks, the size in the header
  assert.equal(inflate(frames.all), text);
  // what cannot be compressed is stored
  assert.equal(inflate(frames.stored), "xyz");
});

const frames = {
  plain: "04224d186440a70e0000003f616263030008602068656c6c6f000000009551effc",
  all: "04224d187c402400000000000000210e0000003f616263030008602068656c6c6fe7679c40000000009551effc",
  stored: "04224d186440a70300008078797a00000000d32f93f1",
};

/** Where the sequences of a block lie, by the format's own words; distances of 0 have no match. */
function sequences(block: Uint8Array) {
  const found: { literals: number; distance: number; length: number }[] = [];
  let at = 0;
  const length = (nibble: number) => {
    let sum = nibble;
    if (nibble === 15) for (let more = 255; more === 255; sum += more) more = block[at++]!;
    return sum;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = length(token >> 4);
    at += literals;
    if (at === block.length) {
      found.push({ literals, distance: 0, length: 0 });
      break;
    }
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    found.push({ literals, distance, length: length(token & 15) + 4 });
  }
  return found;
}

test("blocks keep the format's rules for their end, which decoders rely on", () => {
  const unit = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 30 }));
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 10 }), (units) => {
      const bytes = Buffer.concat(units.flatMap(([bytes, times]) => Array.from({ length: times }, () => bytes)));
      const target = new Uint8Array(bytes.length * 2 + 50);
      const end = compressBlock(bytes, 0, bytes.length, target, 0);
      const block = sequences(target.subarray(0, end));
      let position = 0;
      for (const { literals, distance, length } of block) {
        position += literals;
        assert.ok(distance <= position);
        if (distance > 0) assert.ok(position <= bytes.length - 12, "the last match begins 12 bytes before the end");
        position += length;
        if (distance > 0) assert.ok(position <= bytes.length - 5, "the last five bytes are literals");
      }
      assert.equal(position, bytes.length);
      assert.equal(block.at(-1)?.distance, 0);
      const back = new Uint8Array(bytes.length);
      assert.equal(decompressBlock(target, 0, end, back, 0), bytes.length);
      assert.deepEqual(Buffer.from(back), bytes);
    }),
  );
});

test("malformed blocks are refused, and write nothing beyond their room", () => {
  const room = new Uint8Array(64);
  const refused = (bytes: number[]) =>
    assert.throws(() => decompressBlock(Uint8Array.from(bytes), 0, bytes.length, room.subarray(0, 16), 0), RangeError);
  refused([0x50, 1, 2]);
  refused([0x10, 1, 0, 0, 0]);
  refused([0x10, 1, 2, 0, 0]);
  refused([0x1f, 1, 1, 0, 255, 255]);
  refused([0xf0, 255, 255]);
  refused([0x10, 1, 1]);
  refused([0x10, 1, 1, 0]);
  assert.ok(room.subarray(16).every((byte) => byte === 0));
});

test("malformed frames are refused", () => {
  const frame = compressFrame(Buffer.from("some text, some text, some text, some text"));
  for (let length = 0; length < frame.length; length += 1)
    assert.throws(() => decompressFrame(frame.subarray(0, length), 1000, tooLong), RangeError);
  for (const [at, byte] of [
    [0, 5],
    [4, 0],
    [4, 0x61],
    [5, 0x10],
  ] as const) {
    const broken = Buffer.from(frame);
    broken[at] = byte;
    assert.throws(() => decompressFrame(broken, 1000, tooLong), RangeError);
  }
});

test("what may inflate beyond the limit is refused before it is inflated", () => {
  const bytes = Buffer.alloc(1 << 20, "a");
  assert.throws(() => decompressFrame(compressFrame(bytes), bytes.length - 1, tooLong), /too long/);
});
