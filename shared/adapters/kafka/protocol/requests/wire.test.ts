import assert from "node:assert/strict";
import { test } from "node:test";
import { fetch } from "./fetch.ts";
import { stableGroupOffset } from "./group-offset.ts";
import { listOffsets } from "./offsets.ts";
import { byTopic, Decoder, Encoder, readByPartition, readNumber, skipTags } from "./wire.ts";

const largest = Number.MAX_SAFE_INTEGER;

test("offsets are exact up to 2^53, both ways", () => {
  for (const value of [0, -1, -2, 2 ** 31, 2 ** 32, 2 ** 32 - 1, 2 ** 40 + 5, largest]) {
    const { buffer } = new Encoder(8).writeInt64(value);
    assert.equal(buffer.readBigInt64BE(), BigInt(value));
    assert.equal(readNumber(new Decoder(buffer)), value);
  }
  const at = {
    topic: "t",
    partition: 3,
    offset: largest,
    isolation: "read_committed",
    maxBytes: 1,
    maxWaitMs: 1,
  } as const;
  assert.ok(fetch([at], at).body[0]!.includes(new Encoder(8).writeInt64(largest).buffer));
  assert.ok(listOffsets([at], largest, "read_committed").body[0]!.includes(new Encoder(8).writeInt64(largest).buffer));
});

test("tagged fields that we do not know are passed over, whatever their size", () => {
  const encoder = new Encoder().writeUVarInt(2);
  for (const [tag, size] of [
    [0, 0],
    [1, 300],
  ] as const) {
    encoder.writeUVarInt(tag).writeUVarInt(size).writeBuffer(Buffer.alloc(size, 0xff));
  }
  const decoder = new Decoder(encoder.writeInt32(77).buffer);
  skipTags(decoder);
  assert.equal(decoder.readInt32(), 77);
});

test("a group's offset is read past tagged fields", () => {
  const tags = (encoder: Encoder) => encoder.writeUVarInt(1).writeUVarInt(9).writeUVarInt(2).writeInt16(-1);
  const answer = new Encoder().writeUVarInt(2).writeUVarIntString("t").writeUVarInt(2);
  answer.writeInt32(0).writeInt64(largest).writeInt32(-1).writeUVarIntString("token").writeInt16(0);
  tags(tags(answer)).writeInt16(0);
  const { code, value } = stableGroupOffset("g", { topic: "t", partition: 0 }).decode(new Decoder(tags(answer).buffer));
  assert.deepEqual([code, value], [0, { offset: largest, metadata: "token" }]);
});

test("answers are given in the order of what was asked for", () => {
  const asked = [
    { topic: "a", partition: 1 },
    { topic: "b", partition: 0 },
    { topic: "a", partition: 0 },
  ];
  assert.deepEqual(byTopic(asked), [
    ["a", [asked[0], asked[2]]],
    ["b", [asked[1]]],
  ]);
  const encoder = new Encoder().writeInt32(2);
  for (const [topic, partitions] of [
    ["b", [0]],
    ["a", [0, 1]],
  ] as const) {
    encoder.writeString(topic).writeInt32(partitions.length);
    for (const partition of partitions) encoder.writeInt32(partition);
  }
  const answerOf = readByPartition(new Decoder(encoder.buffer), (decoder, topic) => {
    const partition = decoder.readInt32();
    return [partition, `${topic}${partition}`];
  });
  assert.deepEqual(asked.map(answerOf), ["a1", "b0", "a0"]);
  assert.throws(() => answerOf({ topic: "c", partition: 0 }), /nothing about c\/0/);
});
