import type { IdempotentProducer, ProduceRequest, TopicPartition } from "../client.ts";
import { sequenceAfter, stampBatch } from "../record-batch/encode.ts";
import { CallWindow } from "./call-window.ts";
import type { TargetBatch } from "./staged-output.ts";

/** Produce calls under way at once: a broker remembers as many batches of a producer, to know one that comes twice. */
const mostInFlight = 5;
/** Bytes of one produce call, unless a single batch is longer: far below a broker's `socket.request.max.bytes`. */
const callBytes = 8 * 1024 * 1024;

export const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** Sends batches for one producer, and counts its records. It is of use until a call fails, and no longer. */
export class BatchSender {
  readonly #identity: IdempotentProducer;
  readonly #call: (batches: readonly ProduceRequest[]) => Promise<void>;
  /** Next sequence number by partition. */
  readonly #sequences = new Map<string, number>();
  /** Partitions that have acknowledged a batch, in a transaction: of it. */
  #begun = new Set<string>();

  /** @param call sends batches of different partitions */
  constructor(identity: IdempotentProducer, call: (batches: readonly ProduceRequest[]) => Promise<void>) {
    this.#identity = identity;
    this.#call = call;
  }

  /** Another transaction begins. */
  begin(): void {
    this.#begun = new Set();
  }

  /** Sends batches, those of a partition in their order; a batch is changed by it. Resolves when all are acknowledged, or no more is under way. */
  async send(batches: readonly TargetBatch[]): Promise<void> {
    const queues = [...Map.groupBy(batches, nameOf).values()];
    const rounds = Math.max(0, ...queues.map((queue) => queue.length));
    const calls = new CallWindow(mostInFlight);
    try {
      for (let round = 0; round < rounds; round++) {
        const next = queues.flatMap((queue) => queue[round] ?? []);
        for (const some of cut(next)) await calls.add(() => this.#produce(some));
        // On a partition's first batch its leader asks the coordinator about the transaction. A second one that comes meanwhile would be out of order.
        if (next.some((one) => !this.#begun.has(nameOf(one)))) await calls.settled();
        for (const one of next) this.#begun.add(nameOf(one));
      }
      await calls.settled();
    } finally {
      await calls.over();
    }
  }

  #produce(batches: readonly TargetBatch[]): Promise<void> {
    for (const { batch, records, checksum, ...target } of batches) {
      const sequence = this.#sequences.get(nameOf(target)) ?? 0;
      stampBatch(batch, this.#identity, sequence, checksum);
      this.#sequences.set(nameOf(target), sequenceAfter(sequence, records));
    }
    return this.#call(batches);
  }
}

/** Into calls that are not too large, in order. */
function cut(batches: readonly TargetBatch[]): TargetBatch[][] {
  const calls: TargetBatch[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of batches) {
    bytes += one.batch.length;
    if (bytes > callBytes) {
      calls.push([]);
      bytes = one.batch.length;
    }
    calls.at(-1)!.push(one);
  }
  return calls;
}
