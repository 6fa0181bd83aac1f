import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import type { KafkaClient, ProduceRequest } from "../client.ts";
import { recordsChecksumIn, recordsIn } from "../record-batch/encode.ts";
import { BatchSender } from "./batch-sender.ts";
import { isWorthAnotherTry, type OutputPlace, publishFailed } from "./errors.ts";
import { persevere } from "./persevere.ts";
import type { TargetBatch } from "./staged-output.ts";
import type { TopicOutput } from "./topic-output.ts";

/** How long brokers that do not answer are asked again. */
const patienceMs = 45_000;
/** How long a producer that rests is used again: brokers forget its numbers after a day, or as they are configured. */
const warmMs = 300_000;

/**
 * Sends rows without a transaction. A call that fails is sent again as it is, under the same sequence numbers, by which a broker knows what it has got already: so within a
 * task nothing is doubled or out of order (KIP-98). A producer that has failed is thrown away; another would be told apart from it by its id, and its rows come twice.
 */
export class DirectProducer {
  readonly #client: KafkaClient;
  readonly #ports: { readonly clock: Clock; readonly random: Random };
  /** Of the last task: nobody else has it meanwhile. */
  #warm: { readonly sender: BatchSender; readonly until: number } | undefined;

  constructor(client: KafkaClient, ports: { readonly clock: Clock; readonly random: Random }) {
    this.#client = client;
    this.#ports = ports;
  }

  async send(place: OutputPlace, outputs: readonly TopicOutput[]): Promise<void> {
    const batches = outputs.flatMap(batchesOf);
    if (batches.length === 0) return;
    const warm = this.#warm;
    this.#warm = undefined;
    try {
      const isWarm = warm !== undefined && this.#ports.clock.now() < warm.until;
      const sender = isWarm ? warm.sender : await this.#begin();
      await sender.send(batches);
      this.#warm = { sender, until: this.#ports.clock.now() + warmMs };
    } catch (error) {
      throw publishFailed(error, place);
    }
  }

  async #begin(): Promise<BatchSender> {
    const identity = await this.#persevere(() => this.#client.idempotentProducer());
    const call = (batches: readonly ProduceRequest[]) => this.#client.produce(identity, batches);
    return new BatchSender(identity, (batches) => this.#persevere(() => call(batches)));
  }

  #persevere<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock, random } = this.#ports;
    return persevere({ clock, random, patienceMs, isWorthAnotherTry }, attempt);
  }
}

function batchesOf({ topic, partitions }: TopicOutput): TargetBatch[] {
  return partitions.flatMap(({ partition, batches }) =>
    batches.map((batch) => ({
      topic: topic.name,
      partition,
      batch,
      records: recordsIn(batch),
      checksum: recordsChecksumIn(batch),
    })),
  );
}
