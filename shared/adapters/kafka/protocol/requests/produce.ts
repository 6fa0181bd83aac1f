import type { ProduceRequest } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { byTopic, Encoder, readByPartition } from "./wire.ts";

const acksOfAll = -1;

/**
 * Batches of one leader, one a partition: the answers in their order. The batches are sent as they lie.
 *
 * @param transactionalId null: in no transaction
 */
export function produce(
  transactionalId: string | null,
  batches: readonly ProduceRequest[],
  timeoutMs: number,
): ApiRequest<Answer<void>[]> {
  const topics = byTopic(batches);
  const parts: Buffer[] = [];
  let encoder = new Encoder()
    .writeString(transactionalId)
    .writeInt16(acksOfAll)
    .writeInt32(Math.floor(timeoutMs))
    .writeInt32(topics.length);
  for (const [topic, each] of topics) {
    encoder.writeString(topic).writeInt32(each.length);
    for (const { partition, batch } of each) {
      parts.push(encoder.writeInt32(partition).writeInt32(batch.length).buffer, batch);
      encoder = new Encoder(64);
    }
  }
  return {
    name: "Produce",
    key: 0,
    version: 8,
    body: parts,
    throttleAtEnd: true,
    decode: (decoder) =>
      batches.map(
        readByPartition(decoder, () => {
          const partition = decoder.readInt32();
          const code = decoder.readInt16();
          // Offset, append time, log start.
          decoder.forward(24);
          const refused = decoder.readArray(() => {
            decoder.readInt32();
            return decoder.readString();
          });
          return [partition, { code, value: undefined, message: decoder.readString() ?? refused[0] ?? null }];
        }),
      ),
  };
}
