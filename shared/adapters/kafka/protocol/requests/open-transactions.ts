import type { TopicPartition } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { body, byTopic, type Decoder, readNumber, skipTags, writeCompactArray, writeNoTags } from "./wire.ts";

/** A producer with a transaction open on a partition (KIP-664). */
export interface ActiveProducer {
  readonly producerId: bigint;
  /** First offset of the transaction in the partition. */
  readonly from: number;
}

/** The transactions that are open on each partition, as its leader knows them. */
export function describeProducers(partitions: readonly TopicPartition[]): ApiRequest<Answer<ActiveProducer[]>[]> {
  return {
    name: "DescribeProducers",
    key: 61,
    version: 0,
    flexible: true,
    body: body((encoder) => {
      writeCompactArray(encoder, byTopic(partitions), ([topic, each]) => {
        encoder.writeUVarIntString(topic);
        writeCompactArray(encoder, each, ({ partition }) => encoder.writeInt32(partition));
        writeNoTags(encoder);
      });
      writeNoTags(encoder);
    }),
    decode(decoder) {
      const answers = new Map<string, Answer<ActiveProducer[]>>();
      decoder.readUVarIntArray(() => {
        const topic = decoder.readUVarIntString()!;
        decoder.readUVarIntArray(() => {
          const partition = decoder.readInt32();
          const [code, message] = [decoder.readInt16(), decoder.readUVarIntString()];
          const value = (decoder.readUVarIntArray(readProducer) ?? []).filter(({ from }) => from >= 0);
          skipTags(decoder);
          answers.set(`${topic}/${partition}`, { code, message, value });
        });
        skipTags(decoder);
      });
      return partitions.map(({ topic, partition }) => answers.get(`${topic}/${partition}`)!);
    },
  };
}

function readProducer(decoder: Decoder): ActiveProducer {
  const producerId = BigInt(decoder.readInt64().toString());
  decoder.readInt32();
  decoder.readInt32();
  decoder.readInt64();
  decoder.readInt32();
  const from = readNumber(decoder);
  skipTags(decoder);
  return { producerId, from };
}

/** The transactional ids of these producers, as far as the broker coordinates them, and we may see them. */
export function listTransactions(producerIds: readonly bigint[]): ApiRequest<Answer<Map<bigint, string>>> {
  return {
    name: "ListTransactions",
    key: 66,
    version: 0,
    flexible: true,
    body: body((encoder) => {
      writeCompactArray(encoder, [], () => {});
      writeCompactArray(encoder, producerIds, (id) => encoder.writeInt64(id));
      writeNoTags(encoder);
    }),
    decode(decoder) {
      const code = decoder.readInt16();
      decoder.readUVarIntArray((unknown) => unknown.readUVarIntString());
      const listed = decoder.readUVarIntArray((): [bigint, string] => {
        const transactionalId = decoder.readUVarIntString()!;
        const producerId = BigInt(decoder.readInt64().toString());
        decoder.readUVarIntString();
        skipTags(decoder);
        return [producerId, transactionalId];
      });
      return { code, value: new Map(listed) };
    },
  };
}

/** When a transactional id's transaction began, epoch milliseconds, and after how long it is aborted. */
export function describeTransaction(
  transactionalId: string,
): ApiRequest<Answer<{ readonly startedAt: number; readonly timeoutMs: number }>> {
  return {
    name: "DescribeTransactions",
    key: 65,
    version: 0,
    flexible: true,
    body: body((encoder) => {
      writeCompactArray(encoder, [transactionalId], (id) => encoder.writeUVarIntString(id));
      writeNoTags(encoder);
    }),
    decode(decoder) {
      const [only] = decoder.readUVarIntArray(() => {
        const code = decoder.readInt16();
        decoder.readUVarIntString();
        decoder.readUVarIntString();
        const timeoutMs = decoder.readInt32();
        return { code, value: { timeoutMs, startedAt: readNumber(decoder) } };
      })!;
      return only!;
    },
  };
}
