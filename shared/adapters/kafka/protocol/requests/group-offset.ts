import type { GroupOffset, TopicPartition } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { body, readNumber, skipTags, writeCompactArray, writeNoTags } from "./wire.ts";

/** A group's offset; waits for none, and so fails while a transaction with it is open (KIP-447). */
export function stableGroupOffset(
  group: string,
  { topic, partition }: TopicPartition,
): ApiRequest<Answer<GroupOffset | undefined>> {
  return {
    name: "OffsetFetch",
    key: 9,
    version: 7,
    flexible: true,
    body: body((encoder) => {
      encoder.writeUVarIntString(group);
      writeCompactArray(encoder, [topic], () => {
        encoder.writeUVarIntString(topic);
        writeCompactArray(encoder, [partition], () => encoder.writeInt32(partition));
        writeNoTags(encoder);
      });
      writeNoTags(encoder.writeBoolean(true));
    }),
    decode(decoder) {
      const found = decoder.readUVarIntArray(() => {
        decoder.readUVarIntString();
        const partitions = decoder.readUVarIntArray(() => {
          decoder.readInt32();
          const offset = readNumber(decoder);
          decoder.readInt32();
          const metadata = decoder.readUVarIntString() ?? "";
          const code = decoder.readInt16();
          skipTags(decoder);
          return { code, value: offset < 0 ? undefined : { offset, metadata } };
        });
        skipTags(decoder);
        return partitions?.[0];
      });
      const code = decoder.readInt16();
      const answer = found?.[0];
      return code !== 0 || answer === undefined ? { code, value: undefined } : answer;
    },
  };
}
