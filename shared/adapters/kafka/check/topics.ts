import { type Finding, failure, finding } from "../../../finding.ts";
import type { KafkaClient, TopicMetadata } from "../client.ts";

/** What a sink's topic is for. */
export interface TargetUse {
  readonly sink: string;
  /** Rows have keys. */
  readonly keyed: boolean;
  /** Milliseconds by which the records that are to be written may be old; undefined: nobody knows. */
  readonly ageMs: number | undefined;
  /** Records get times of their own, and not their rows'. */
  readonly ownTimes: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Where the brokers' default, a megabyte, was lowered. */
const littleBytes = 100_000;

const settingsOfTarget = [
  "cleanup.policy",
  "max.message.bytes",
  "min.insync.replicas",
  "message.timestamp.type",
  "message.timestamp.before.max.ms",
  "message.timestamp.difference.max.ms",
];

/** Whether a topic can take what a sink has for it. */
export async function checkTarget(client: KafkaClient, topic: TopicMetadata, use: TargetUse): Promise<Finding[]> {
  const { sink } = use;
  const name = topic.topic;
  const place = { sink, partition: name };
  try {
    const settings = await client.topicConfiguration(name, settingsOfTarget);
    const limit = (setting: string) => Number(settings[setting] ?? Number.POSITIVE_INFINITY);
    const findings = checkReplicas(topic, limit("min.insync.replicas"), place);
    if ((settings["cleanup.policy"] ?? "").includes("compact") && !use.keyed)
      findings.push(
        finding(
          "error",
          "topic-compacted",
          `${name} is compacted by key, but sink ${sink} writes no keys`,
          "Set `key` of the sink, or `cleanup.policy=delete` of the topic.",
          place,
        ),
      );
    const most = limit("max.message.bytes");
    if (most < littleBytes)
      findings.push(
        finding(
          "warning",
          "small-messages",
          `${name} takes batches of at most ${most} bytes: a larger row stops the pipeline`,
          "Raise `max.message.bytes` of the topic.",
          place,
        ),
      );
    const before = Math.min(limit("message.timestamp.before.max.ms"), limit("message.timestamp.difference.max.ms"));
    const isJudged = settings["message.timestamp.type"] !== "LogAppendTime" && !use.ownTimes;
    if (isJudged && use.ageMs !== undefined && use.ageMs > before)
      findings.push(
        finding(
          "error",
          "rows-too-old",
          `${name} refuses records older than ${before} ms, and the input that is to be read next is ${Math.floor(use.ageMs)} ms old`,
          "Raise `message.timestamp.before.max.ms` of the topic, or set `timestamp` of the sink.",
          place,
        ),
      );
    return findings;
  } catch (error) {
    return [failure(error)];
  }
}

function checkReplicas({ topic, partitions }: TopicMetadata, minInSync: number, place: object): Finding[] {
  const replicas = Math.min(...partitions.map((one) => one.replicas ?? Number.POSITIVE_INFINITY));
  if (replicas === 1)
    return [
      finding(
        "warning",
        "one-replica",
        `${topic} has one copy of each partition: what is committed is lost with that broker's disk`,
        "For anything but trying things out: three replicas, and `min.insync.replicas=2`.",
        place,
      ),
    ];
  if (minInSync > 1 || replicas === Number.POSITIVE_INFINITY) return [];
  return [
    finding(
      "warning",
      "one-in-sync",
      `${topic} has ${replicas} replicas, but one of them is enough for a commit: it is lost with that broker`,
      "Set `min.insync.replicas=2` of the topic.",
      place,
    ),
  ];
}

/** @param lag by topic: how old the oldest record is that is still to be read, milliseconds; undefined: nothing is to be read, or nobody knows */
export async function checkRetention(
  client: KafkaClient,
  topic: string,
  ageMs: number | undefined,
): Promise<Finding[]> {
  const place = { partition: topic };
  try {
    const { "retention.ms": retention, "cleanup.policy": policy = "" } = await client.topicConfiguration(topic, [
      "retention.ms",
      "cleanup.policy",
    ]);
    const retentionMs = Number(retention ?? -1);
    if (!policy.includes("delete") || retentionMs < 0) return [];
    if (ageMs !== undefined && ageMs > retentionMs / 2) {
      const message = `${topic} keeps records for ${hoursOf(retentionMs)}, and the oldest that is still to be read is ${hoursOf(ageMs)} old: soon it is gone`;
      return [
        finding(
          "warning",
          "retention-near",
          message,
          "Run the pipeline now, or raise `retention.ms` of the topic first.",
          place,
        ),
      ];
    }
    if (retentionMs >= dayMs) return [];
    const message = `${topic} keeps records for ${hoursOf(retentionMs)}: a pipeline that stands still for longer stops with a loss`;
    return [
      finding(
        "warning",
        "retention-short",
        message,
        "Raise `retention.ms` of the topic to what an outage may take: days.",
        place,
      ),
    ];
  } catch (error) {
    return [{ ...failure(error), level: "warning" }];
  }
}

const hoursOf = (ms: number) => `${(ms / hourMs).toFixed(1)} h`;
