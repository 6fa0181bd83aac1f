import { checkSinkRights } from "../../shared/adapters/kafka/check/rights.ts";
import { checkRetention, checkTarget } from "../../shared/adapters/kafka/check/topics.ts";
import type { KafkaClient, TopicMetadata } from "../../shared/adapters/kafka/client.ts";
import { resolveConnection } from "../../shared/adapters/kafka/connection/connection.ts";
import { isKafkaError } from "../../shared/adapters/kafka/errors.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { SinkBrokers } from "../../shared/adapters/kafka/sink/brokers.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { failure, finding } from "../../shared/finding.ts";
import type { KafkaSinkSettings, KafkaSourceSettings } from "../../shared/pipeline/connectors/kafka.ts";
import type { KafkaConnectionSettings } from "../../shared/pipeline/connectors/kafka-connection.ts";
import type { Topology } from "../../shared/pipeline/topology.ts";
import type { CheckReport } from "./report.ts";

/** Somebody is waiting for the answer. */
const timeouts = { connectMs: 5_000, callMs: 10_000 };
const transactionTimeoutMs = 60_000;

/** The clusters of a pipeline, each with one client, and each looked for once. */
export class Clusters implements AsyncDisposable {
  readonly #report: CheckReport;
  readonly #clients = new Map<KafkaConnectionSettings, Promise<KafkaClient | undefined>>();

  constructor(report: CheckReport) {
    this.#report = report;
  }

  /** Undefined: it cannot be reached, which is said once. */
  reach(topic: "source" | "sinks", connection: KafkaConnectionSettings): Promise<KafkaClient | undefined> {
    const known = this.#clients.get(connection) ?? this.#connect(topic, connection);
    this.#clients.set(connection, known);
    return known;
  }

  async #connect(topic: "source" | "sinks", connection: KafkaConnectionSettings): Promise<KafkaClient | undefined> {
    return await this.#report.attempt(topic, async () => {
      const client = createKafkaClient(resolveConnection(connection), timeouts);
      try {
        await client.topics([]);
        return client;
      } catch (error) {
        await client.close();
        throw error;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) await (await client)?.close();
  }
}

/** @returns whether it is of use to look further */
export async function checkKafkaSource(
  report: CheckReport,
  clusters: Clusters,
  settings: KafkaSourceSettings,
): Promise<boolean> {
  const client = await clusters.reach("source", settings.connection);
  if (client === undefined) return false;
  if (settings.topics instanceof RegExp) return true;
  const found = await findTopics(report, "source", client, settings.topics, {});
  for (const { topic, partitions } of found) report.note("source", `topic ${topic}: ${partitions.length} partitions`);
  return found.length === settings.topics.length;
}

/** @param ages by topic: milliseconds since the time of the oldest record that is still to be read */
export async function checkSourceRetention(
  report: CheckReport,
  clusters: Clusters,
  { connection }: KafkaSourceSettings,
  ages: ReadonlyMap<string, number | undefined>,
): Promise<void> {
  const client = await clusters.reach("source", connection);
  if (client === undefined) return;
  for (const [topic, ageMs] of ages) report.add("source", ...(await checkRetention(client, topic, ageMs)));
}

export async function checkKafkaSink(
  report: CheckReport,
  clusters: Clusters,
  { name }: Topology,
  sink: string,
  settings: KafkaSinkSettings,
  ageMs: number | undefined,
): Promise<void> {
  const client = await clusters.reach("sinks", settings.connection);
  if (client === undefined) return;
  await report.attempt("sinks", () => new SinkBrokers(client, systemClock, transactionTimeoutMs).check(sink));
  const fixed = typeof settings.topic === "string" ? [settings.topic] : [];
  const names = [...new Set([settings.markerTopic, ...fixed])];
  const found = await findTopics(report, "sinks", client, names, { sink });
  const use = { sink, keyed: settings.key !== undefined, ageMs, ownTimes: settings.timestamp !== undefined };
  for (const topic of found) {
    report.note("sinks", `${sink}: topic ${topic.topic}, ${topic.partitions.length} partitions`);
    if (fixed.includes(topic.topic)) report.add("sinks", ...(await checkTarget(client, topic, use)));
  }
  if (fixed.length === 0) report.note("sinks", `${sink}: rows choose their topics, which are not looked at`);
  if (found.length > 0)
    report.add(
      "sinks",
      ...(await checkSinkRights(
        client,
        `epochflow.${name}.check.${sink}.0`,
        found.map(({ topic }) => topic),
      )),
    );
}

/** A topic that a pipeline both reads and writes goes round for ever. */
export function checkLoops(report: CheckReport, { nodes: [node], sinks }: Topology): void {
  if (node?.kind !== "source" || node.source.kind !== "kafka") return;
  const { topics, connection } = node.source.options as unknown as KafkaSourceSettings;
  const reads = (topic: string) =>
    topics instanceof RegExp
      ? new RegExp(`^(?:${topics.source})$`, topics.flags.replace(/[gy]/g, "")).test(topic)
      : topics.includes(topic);
  for (const [sink, { kind, options }] of Object.entries(sinks)) {
    if (kind !== "kafka" || typeof options.topic !== "string") continue;
    const other = options.connection as KafkaConnectionSettings;
    if (String(other.brokers) !== String(connection.brokers) || !reads(options.topic)) continue;
    const message = `The pipeline reads the topic ${options.topic}, to which its sink ${sink} writes`;
    report.add(
      "sinks",
      finding(
        "error",
        "output-is-input",
        message,
        "Give the sink another topic, or the source a pattern that leaves it out.",
        { sink, partition: options.topic },
      ),
    );
  }
}

async function findTopics(
  report: CheckReport,
  topic: "source" | "sinks",
  client: KafkaClient,
  names: readonly string[],
  place: { readonly sink?: string },
): Promise<TopicMetadata[]> {
  const found: TopicMetadata[] = [];
  // One by one: that of one says nothing of the next.
  for (const name of names) {
    try {
      const [one] = await client.topics([name]);
      if (one !== undefined) found.push(one);
      else
        report.add(
          topic,
          finding(
            "error",
            "kafka-topic-missing",
            `The topic ${name} does not exist`,
            `Create it: \`kafka-topics.sh --bootstrap-server … --create --topic ${name} --partitions …\`, or grant DESCRIBE on it.`,
            { ...place, partition: name },
          ),
        );
    } catch (error) {
      const { level, error: described } = failure(error);
      report.add(topic, { level, error: { ...described, place: { ...place, partition: name } } });
      if (!isKafkaError(error, "TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION")) break;
    }
  }
  return found;
}
