import type { Clock } from "../../../ports/clock.ts";
import type { GroupOffset, KafkaClient, ProducerIdentity, TopicPartition } from "../client.ts";
import { isKafkaError } from "../errors.ts";
import { BatchSender } from "./batch-sender.ts";
import type { TargetBatch } from "./staged-output.ts";

const longestPauseMs = 256;

/** A lane's producer, from its fencing on. It is of use until a call fails, and no longer. */
export class LaneProducer {
  readonly #client: KafkaClient;
  readonly #clock: Clock;
  readonly #identity: ProducerIdentity;
  readonly #sender: BatchSender;

  constructor(client: KafkaClient, clock: Clock, identity: ProducerIdentity) {
    this.#client = client;
    this.#clock = clock;
    this.#identity = identity;
    this.#sender = new BatchSender(identity, (batches) => client.produce(identity, batches));
  }

  /**
   * Begins a transaction over the partitions. The broker may still be writing the markers of the one before, mostly for some milliseconds: the only error that is
   * waited out, since it says for certain that nothing was done.
   */
  async begin(partitions: readonly TopicPartition[]): Promise<void> {
    this.#sender.begin();
    for (let pauseMs = 1; ; pauseMs *= 2) {
      try {
        return await this.#client.addPartitions(this.#identity, partitions);
      } catch (error) {
        if (!isKafkaError(error, "CONCURRENT_TRANSACTIONS") || pauseMs > longestPauseMs) throw error;
      }
      await this.#clock.sleep(pauseMs);
    }
  }

  send(batches: readonly TargetBatch[]): Promise<void> {
    return this.#sender.send(batches);
  }

  /** Makes the group's offset a part of the transaction: it and what was sent become visible together. */
  mark(group: string, topic: string, offset: GroupOffset): Promise<void> {
    return this.#client.addGroupOffset(this.#identity, group, topic, offset);
  }

  /** When all that was sent, and the mark, have been acknowledged. If it fails, it may have come through. */
  async commit(): Promise<void> {
    await this.#client.endTransaction(this.#identity, "commit");
  }

  /** Frees the readers, who wait for the transaction's end. Only before `commit`: its outcome must not be made another. */
  async abort(): Promise<void> {
    await this.#client.endTransaction(this.#identity, "abort");
  }
}
