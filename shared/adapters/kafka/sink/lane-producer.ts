import type { Clock } from "../../../ports/clock.ts";
import type { GroupOffset, KafkaClient, ProducerIdentity, TopicPartition } from "../client.ts";
import { isKafkaError } from "../errors.ts";
import { sequenceAfter, stampBatch } from "../record-batch/encode.ts";
import { CallWindow } from "./call-window.ts";
import type { TargetBatch } from "./staged-output.ts";

/** Produce calls under way at once: a broker remembers as many batches of a producer, to know one that comes twice. */
const mostInFlight = 5;
/** Bytes of one produce call, unless a single batch is longer: far below a broker's `socket.request.max.bytes`. */
const callBytes = 8 * 1024 * 1024;

const longestPauseMs = 256;

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** A lane's producer, from its fencing on. It is of use until a call fails, and no longer. */
export class LaneProducer {
  readonly #client: KafkaClient;
  readonly #clock: Clock;
  readonly #identity: ProducerIdentity;
  /** Next sequence number by partition. */
  readonly #sequences = new Map<string, number>();
  /** Partitions that have acknowledged a batch of the transaction. */
  #begun = new Set<string>();

  constructor(client: KafkaClient, clock: Clock, identity: ProducerIdentity) {
    this.#client = client;
    this.#clock = clock;
    this.#identity = identity;
  }

  /**
   * Begins a transaction over the partitions. The broker may still be writing the markers of the one before, mostly for some milliseconds: the only error that is
   * waited out, since it says for certain that nothing was done.
   */
  async begin(partitions: readonly TopicPartition[]): Promise<void> {
    this.#begun = new Set();
    for (let pauseMs = 1; ; pauseMs *= 2) {
      try {
        return await this.#client.addPartitions(this.#identity, partitions);
      } catch (error) {
        if (!isKafkaError(error, "CONCURRENT_TRANSACTIONS") || pauseMs > longestPauseMs) throw error;
      }
      await this.#clock.sleep(pauseMs);
    }
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

  /** Makes the group's offset visible together with what was sent. If it fails, it may have come through. */
  async commit(group: string, topic: string, offset: GroupOffset): Promise<void> {
    await this.#client.addGroupOffset(this.#identity, group, topic, offset);
    await this.#client.endTransaction(this.#identity, "commit");
  }

  /** Frees the readers, who wait for the transaction's end. Only before `commit`: its outcome must not be made another. */
  async abort(): Promise<void> {
    await this.#client.endTransaction(this.#identity, "abort");
  }

  #produce(batches: readonly TargetBatch[]): Promise<void> {
    for (const { batch, records, ...target } of batches) {
      const sequence = this.#sequences.get(nameOf(target)) ?? 0;
      stampBatch(batch, this.#identity, sequence);
      this.#sequences.set(nameOf(target), sequenceAfter(sequence, records));
    }
    return this.#client.produce(this.#identity, batches);
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
