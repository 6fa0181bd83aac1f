import { Decoder, Encoder } from "../kafkajs-modules.ts";

export { Decoder, Encoder };

/** Encodes a request's body in one piece. */
export function body(write: (encoder: Encoder) => void): Buffer[] {
  const encoder = new Encoder();
  write(encoder);
  return [encoder.buffer];
}

/** An array with its length before it. */
export function writeArray<T>(encoder: Encoder, items: readonly T[], write: (item: T) => void): void {
  encoder.writeInt32(items.length);
  for (const item of items) write(item);
}

/** An array of a flexible version: one more than its length before it. */
export function writeCompactArray<T>(encoder: Encoder, items: readonly T[], write: (item: T) => void): void {
  encoder.writeUVarInt(items.length + 1);
  for (const item of items) write(item);
}

/** Tagged fields: none. */
export const writeNoTags = (encoder: Encoder): Encoder => encoder.writeUVarInt(0);

/** Tagged fields of a flexible version, which we know none of. kafkajs's own method leaves out a byte of each. */
export function skipTags(decoder: Decoder): void {
  for (let count = decoder.readUVarInt(); count > 0; count--) {
    decoder.readUVarInt();
    decoder.forward(decoder.readUVarInt());
  }
}

/** An int64 of which we know that it is exact as a number: offsets, times. */
export const readNumber = (decoder: Decoder): number => Number(decoder.readInt64());

/** Topics with their partitions, as most requests name them; `items` keep their order within a topic. */
export function byTopic<T extends { readonly topic: string }>(items: readonly T[]): [topic: string, items: T[]][] {
  return [...Map.groupBy(items, ({ topic }) => topic)];
}

/** The answers `[{ topic, [{ partition … }] }]` in the order in which the partitions were asked for. */
export function readByPartition<T>(
  decoder: Decoder,
  read: (decoder: Decoder, topic: string) => readonly [partition: number, answer: T],
): (asked: { readonly topic: string; readonly partition: number }) => T {
  const answers = new Map<string, T>();
  decoder.readArray(() => {
    const topic = decoder.readString()!;
    decoder.readArray(() => {
      const [partition, answer] = read(decoder, topic);
      answers.set(`${topic}/${partition}`, answer);
    });
  });
  return ({ topic, partition }) => {
    const answer = answers.get(`${topic}/${partition}`);
    if (answer === undefined) throw new Error(`The answer has nothing about ${topic}/${partition}`);
    return answer;
  };
}
