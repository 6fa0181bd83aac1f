import type { GroupOffset, IdempotentProducer, ProducerIdentity, TopicPartition } from "../../client.ts";
import type { Answer, ApiRequest } from "../api-request.ts";
import { body, byTopic, type Decoder, type Encoder, readByPartition, writeArray } from "./wire.ts";

export type CoordinatorKind = "group" | "transaction";

/** Of a partition that another one keeps out. */
const operationNotAttempted = 55;

/** Who coordinates a group, or a transactional id: a node's id. */
export function findCoordinator(kind: CoordinatorKind, key: string): ApiRequest<Answer<number>> {
  return {
    name: "FindCoordinator",
    key: 10,
    version: 2,
    body: body((encoder) => encoder.writeString(key).writeInt8(kind === "group" ? 0 : 1)),
    decode: (decoder) => ({ code: decoder.readInt16(), message: decoder.readString(), value: decoder.readInt32() }),
  };
}

export function initProducerId<Id extends string | null>(
  transactionalId: Id,
  transactionTimeoutMs: number,
): ApiRequest<Answer<IdempotentProducer & { readonly transactionalId: Id }>> {
  return {
    name: "InitProducerId",
    key: 22,
    version: 1,
    body: body((encoder) => encoder.writeString(transactionalId).writeInt32(transactionTimeoutMs)),
    decode: (decoder) => ({
      code: decoder.readInt16(),
      value: { transactionalId, producerId: decoder.readInt64(), producerEpoch: decoder.readInt16() },
    }),
  };
}

/** All or none; the answer is that for the first partition which kept the others out. */
export function addPartitionsToTransaction(
  producer: ProducerIdentity,
  partitions: readonly TopicPartition[],
): ApiRequest<Answer<void>> {
  return {
    name: "AddPartitionsToTxn",
    key: 24,
    version: 1,
    body: body((encoder) => {
      writeProducer(encoder.writeString(producer.transactionalId), producer);
      writeArray(encoder, byTopic(partitions), ([topic, each]) => {
        encoder.writeString(topic);
        writeArray(encoder, each, ({ partition }) => encoder.writeInt32(partition));
      });
    }),
    decode(decoder) {
      const answerOf = readByPartition(decoder, () => [decoder.readInt32(), readCode(decoder)]);
      const answers = partitions.map((each) => ({ ...answerOf(each), message: `${each.topic}/${each.partition}` }));
      const failed = answers.filter(({ code }) => code !== 0);
      return failed.find(({ code }) => code !== operationNotAttempted) ?? failed[0] ?? { code: 0, value: undefined };
    },
  };
}

export function addOffsetsToTransaction(producer: ProducerIdentity, group: string): ApiRequest<Answer<void>> {
  return {
    name: "AddOffsetsToTxn",
    key: 25,
    version: 1,
    body: body((encoder) => writeProducer(encoder.writeString(producer.transactionalId), producer).writeString(group)),
    decode: readCode,
  };
}

export function transactionalOffsetCommit(
  producer: ProducerIdentity,
  group: string,
  to: TopicPartition,
  { offset, metadata }: GroupOffset,
): ApiRequest<Answer<void>> {
  return {
    name: "TxnOffsetCommit",
    key: 28,
    version: 2,
    body: body((encoder) => {
      writeProducer(encoder.writeString(producer.transactionalId).writeString(group), producer);
      writeArray(encoder, [to], ({ topic, partition }) => {
        encoder.writeString(topic);
        writeArray(encoder, [partition], () =>
          encoder.writeInt32(partition).writeInt64(offset).writeInt32(-1).writeString(metadata),
        );
      });
    }),
    decode: (decoder) => readByPartition(decoder, () => [decoder.readInt32(), readCode(decoder)])(to),
  };
}

export function endTransaction(producer: ProducerIdentity, outcome: "commit" | "abort"): ApiRequest<Answer<void>> {
  return {
    name: "EndTxn",
    key: 26,
    version: 1,
    body: body((encoder) =>
      writeProducer(encoder.writeString(producer.transactionalId), producer).writeBoolean(outcome === "commit"),
    ),
    decode: readCode,
  };
}

const writeProducer = (encoder: Encoder, { producerId, producerEpoch }: ProducerIdentity): Encoder =>
  encoder.writeInt64(producerId).writeInt16(producerEpoch);

const readCode = (decoder: Decoder): Answer<void> => ({ code: decoder.readInt16(), value: undefined });
