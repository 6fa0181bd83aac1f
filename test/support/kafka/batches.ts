import type { ProducerIdentity } from "../../../shared/adapters/kafka/client.ts";
import type { Compression } from "../../../shared/adapters/kafka/record-batch/codecs.ts";
import { BatchEncoder, encodeHeaders, stampBatch } from "../../../shared/adapters/kafka/record-batch/encode.ts";

/** A record batch of a producer, with these values. Batches of very different times are in segments of their own, and a fetch reads one segment. */
export function batchOf(
  producer: ProducerIdentity,
  values: readonly (string | Uint8Array | null)[],
  {
    sequence = 0,
    compression = "none",
    timestamp = Date.now(),
  }: { sequence?: number; compression?: Compression; timestamp?: number } = {},
): Buffer {
  const encoder = new BatchEncoder();
  const headers = encodeHeaders([]);
  for (const value of values) {
    encoder.add(
      { timestamp, key: Buffer.alloc(0), keyStart: 0, keyBytes: -1, value, headers },
      Number.POSITIVE_INFINITY,
    );
  }
  const batch = encoder.take(compression);
  stampBatch(batch, producer, sequence);
  return batch;
}
