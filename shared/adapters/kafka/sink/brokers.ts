import type { Clock } from "../../../ports/clock.ts";
import type { KafkaClient } from "../client.ts";
import { unfitBrokers } from "./errors.ts";
import { type MarkerLimits, markerLimits } from "./marker.ts";

/** Milliseconds for which the brokers are taken to be as they were. */
const freshMs = 300_000;

/** Whether the brokers can keep what the commit rests on. Asked now and then, since they are upgraded, and settings change. */
export class SinkBrokers {
  readonly #client: KafkaClient;
  readonly #clock: Clock;
  readonly #transactionTimeoutMs: number;
  #limits: MarkerLimits | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(client: KafkaClient, clock: Clock, transactionTimeoutMs: number) {
    this.#client = client;
    this.#clock = clock;
    this.#transactionTimeoutMs = transactionTimeoutMs;
  }

  /** @returns how long the brokers keep markers. @throws UsageError for brokers that will not do */
  async check(sink: string): Promise<MarkerLimits> {
    if (this.#limits && this.#clock.now() < this.#freshUntil) return this.#limits;
    const [verifies, settings] = await Promise.all([
      this.#client.verifiesTransactions(),
      this.#client.brokerConfiguration(["offsets.retention.minutes", "transaction.max.timeout.ms"]),
    ]);
    if (!verifies)
      throw unfitBrokers(
        "kafka-brokers-too-old",
        sink,
        "brokers before 3.6 do not check whether a batch belongs to an open transaction, so one that comes late could show up twice",
        "Upgrade the brokers to 3.6 or later, their metadata version included.",
      );
    this.#checkTimeout(sink, Number(settings["transaction.max.timeout.ms"] ?? Number.POSITIVE_INFINITY));
    this.#limits = this.#limitsOf(sink, Number(settings["offsets.retention.minutes"]));
    this.#freshUntil = this.#clock.now() + freshMs;
    return this.#limits;
  }

  #checkTimeout(sink: string, most: number): void {
    const wanted = this.#transactionTimeoutMs;
    if (most >= wanted) return;
    throw unfitBrokers(
      "kafka-transaction-timeout",
      sink,
      `a transaction may take ${wanted} ms, but the brokers allow ${most}`,
      `Set \`transaction.max.timeout.ms\` of the brokers to ${wanted} or more.`,
    );
  }

  /** A commit must be over before its marker could be taken for expired. */
  #limitsOf(sink: string, retentionMinutes: number): MarkerLimits {
    const limits = markerLimits(retentionMinutes);
    if (limits.mostAgeMs >= this.#transactionTimeoutMs) return limits;
    throw unfitBrokers(
      "kafka-offset-retention",
      sink,
      `the brokers keep offsets of groups for ${retentionMinutes} minutes, which is too short to know an epoch that is there`,
      `Set \`offsets.retention.minutes\` of the brokers to ${Math.ceil((this.#transactionTimeoutMs * 7) / 60_000)} or more; the default is 10080.`,
    );
  }
}
