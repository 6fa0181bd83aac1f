import type { Fetched, FetchLimits, Position } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { isolationCode } from "./offsets.ts";
import { body, byTopic, readByPartition, readNumber, writeArray } from "./wire.ts";

const nothing = Buffer.alloc(0);
const none: Fetched = { records: nothing, logStart: -1, highWatermark: -1, lastStable: -1, aborted: [] };

/** A position, and perhaps the leader epoch that the broker must be in. */
type FetchPosition = Position & { readonly leaderEpoch?: number };

/** Without a session (KIP-227). The records are views of the answer. */
export function fetch(
  from: readonly FetchPosition[],
  { isolation, minBytes = 1, maxBytes, maxWaitMs }: Omit<FetchLimits, "minBytes"> & Partial<FetchLimits>,
): ApiRequest<Answer<Fetched>[]> {
  return {
    name: "Fetch",
    key: 1,
    version: 11,
    body: body((encoder) => {
      encoder
        .writeInt32(-1)
        .writeInt32(maxWaitMs)
        .writeInt32(minBytes)
        .writeInt32(maxBytes * from.length)
        .writeInt8(isolationCode(isolation));
      encoder.writeInt32(0).writeInt32(-1);
      writeArray(encoder, byTopic(from), ([topic, each]) => {
        encoder.writeString(topic);
        writeArray(encoder, each, ({ partition, offset, leaderEpoch = -1 }) =>
          encoder.writeInt32(partition).writeInt32(leaderEpoch).writeInt64(offset).writeInt64(-1).writeInt32(maxBytes),
        );
      });
      encoder.writeInt32(0).writeString("");
    }),
    decode(decoder) {
      const code = decoder.readInt16();
      decoder.readInt32();
      const answer = readByPartition(decoder, () => {
        const answered = decoder.readInt32();
        const error = decoder.readInt16();
        const highWatermark = readNumber(decoder);
        const lastStable = readNumber(decoder);
        const logStart = readNumber(decoder);
        const aborted = decoder.readArray(() => ({
          producerId: decoder.readInt64(),
          firstOffset: readNumber(decoder),
        }));
        decoder.readInt32();
        const records = decoder.readBytes() ?? nothing;
        return [answered, { code: error, value: { records, logStart, highWatermark, lastStable, aborted } }];
      });
      return from.map((one) => (code === 0 ? answer(one) : { code, value: none }));
    },
  };
}
