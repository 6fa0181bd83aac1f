import type { Isolation, LogEnd, TopicPartition } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { body, byTopic, readByPartition, readNumber, writeArray } from "./wire.ts";

export const isolationCode = (isolation: Isolation): number => (isolation === "read_committed" ? 1 : 0);

/** Times that stand for the log's ends. */
export const latest = -1;
export const earliest = -2;

/** An offset each: of an end of the log, or of the first record that is not older than a time; -1 if there is none. */
export function listOffsets(
  partitions: readonly TopicPartition[],
  timestamp: number,
  isolation: Isolation,
): ApiRequest<Answer<LogEnd>[]> {
  return {
    name: "ListOffsets",
    key: 2,
    version: 4,
    body: body((encoder) => {
      encoder.writeInt32(-1).writeInt8(isolationCode(isolation));
      writeArray(encoder, byTopic(partitions), ([topic, each]) => {
        encoder.writeString(topic);
        writeArray(encoder, each, ({ partition }) =>
          encoder.writeInt32(partition).writeInt32(-1).writeInt64(timestamp),
        );
      });
    }),
    decode: (decoder) =>
      partitions.map(
        readByPartition(decoder, () => {
          const partition = decoder.readInt32();
          const code = decoder.readInt16();
          decoder.readInt64();
          const offset = readNumber(decoder);
          return [partition, { code, value: { offset, leaderEpoch: decoder.readInt32() } }];
        }),
      ),
  };
}

/** Where a leader epoch ends in the leader's log; -1 if the leader does not know it. */
export function offsetForLeaderEpoch(wanted: TopicPartition, leaderEpoch: number): ApiRequest<[Answer<number>]> {
  return {
    name: "OffsetForLeaderEpoch",
    key: 23,
    version: 3,
    body: body((encoder) => {
      encoder.writeInt32(-1);
      writeArray(encoder, [wanted], ({ topic, partition }) => {
        encoder.writeString(topic);
        writeArray(encoder, [partition], () => encoder.writeInt32(partition).writeInt32(-1).writeInt32(leaderEpoch));
      });
    }),
    decode: (decoder) => [
      readByPartition(decoder, () => {
        const code = decoder.readInt16();
        const partition = decoder.readInt32();
        decoder.readInt32();
        return [partition, { code, value: readNumber(decoder) }];
      })(wanted),
    ],
  };
}
