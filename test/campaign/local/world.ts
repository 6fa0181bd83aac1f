import type { KafkaVersion } from "../../support/kafka/broker.ts";
import { type Oracle, startOracle } from "../../support/kafka/oracle.ts";
import { type ProxiedKafka, startProxiedKafka } from "../../support/kafka/proxied.ts";

/** A broker behind a proxy, and Kafka's own Java client beside the two. */
export interface KafkaWorld extends ProxiedKafka {
  readonly version: KafkaVersion;
  readonly oracle: Oracle;
  /**
   * Whether it may be killed, or restarted, while transactions run. Kafka 4.4.0, alone in its cluster, may then forget the end of one, and hold up readers for
   * ever (KAFKA-20734).
   */
  readonly mayBreak: boolean;
  /** Killed, and not back yet. */
  isDown: boolean;
}

/** Each once, when it is first asked for. */
export class LocalWorld implements AsyncDisposable {
  readonly #started = new Map<KafkaVersion, Promise<KafkaWorld>>();

  kafka(version: KafkaVersion): Promise<KafkaWorld> {
    const started = this.#started.get(version) ?? startWorld(version);
    this.#started.set(version, started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Whoever asked for one that did not start was told.
    const started = await Promise.allSettled(this.#started.values());
    for (const one of started) if (one.status === "fulfilled") await one.value[Symbol.asyncDispose]();
  }
}

async function startWorld(version: KafkaVersion): Promise<KafkaWorld> {
  const mayBreak = version === "3.9.2";
  // Restarts wait for the end of the old life's session; 3.9.2 may take itself for dead at leisure.
  const settings = {
    ...(mayBreak && { "broker.session.timeout.ms": 2000 }),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
  };
  const proxied = await startProxiedKafka({ version, settings });
  const oracle = await startOracle(proxied.broker.bootstrap, { version });
  const end = async () => {
    await oracle.close();
    await proxied[Symbol.asyncDispose]();
  };
  return { ...proxied, version, oracle, mayBreak, isDown: false, [Symbol.asyncDispose]: end };
}
