import { Fn, Token } from "aws-cdk-lib";
import type { FunctionName } from "../bundle.ts";
import type { Right } from "../rights.ts";
import type { KafkaUse } from "./use.ts";

const anyTopic = "Topics that a pattern finds, or that are computed from rows, are not known before.";
const ownPrefix = "Transactional ids and groups begin with the pipeline's name; the ledger's random uid follows.";

/**
 * Rights of MSK's access control by IAM: topics by name, groups and transactional ids by the prefix of the pipeline (protocol §1, §9).
 *
 * @see https://docs.aws.amazon.com/msk/latest/developerguide/kafka-actions.html
 */
export class IamRights {
  readonly #clusterArn: string;

  constructor(clusterArn: string) {
    this.#clusterArn = clusterArn;
  }

  of(name: FunctionName, { pipeline, source, sinks, publishes }: KafkaUse): Right[] {
    const commits = name === "commit" || name === "fused";
    const reads = name !== "commit" && source !== undefined;
    const actions = sinks.length > 0 ? ["Connect", "DescribeClusterDynamicConfiguration"] : ["Connect"];
    const writes = commits || (publishes && name === "operate");
    if (writes && sinks.length > 0) actions.push("WriteDataIdempotently");
    return [
      this.#right(actions, [this.#clusterArn]),
      ...(reads ? [this.#right(["DescribeTopic", "ReadData"], this.#sourceTopics(source), anyTopic)] : []),
      ...(sinks.length > 0 ? this.#sinkRights(sinks, writes) : []),
      ...(commits && sinks.length > 0 ? this.#transactionRights(pipeline) : []),
    ];
  }

  /** What Lambda's pollers do with their consumer groups. */
  ofPollers(groups: ReadonlyMap<string, string>): Right[] {
    return [
      this.#right(["Connect", "DescribeClusterDynamicConfiguration"], [this.#clusterArn]),
      this.#right(
        ["DescribeTopic", "ReadData"],
        [...groups.keys()].map((topic) => this.#arn("topic", topic)),
      ),
      this.#right(
        ["DescribeGroup", "AlterGroup"],
        [...groups.values()].map((group) => this.#arn("group", group)),
      ),
    ];
  }

  /** A commit's marker is an offset on the sink's topic, which Kafka lets nobody store who may not read the topic. */
  #sinkRights(sinks: KafkaUse["sinks"], writes: boolean): Right[] {
    const topics = sinks.map(({ topic }) => this.#arn("topic", topic ?? "*"));
    const markers = sinks.map(({ markerTopic }) => this.#arn("topic", markerTopic));
    const describe = ["DescribeTopic", "DescribeTopicDynamicConfiguration"];
    if (!writes) return [this.#right(describe, [...topics, ...markers], anyTopic)];
    return [this.#right([...describe, "WriteData"], topics, anyTopic), this.#right([...describe, "ReadData"], markers)];
  }

  #transactionRights(pipeline: string): Right[] {
    const name = `epochflow.${pipeline}.*`;
    return [
      this.#right(
        ["DescribeTransactionalId", "AlterTransactionalId"],
        [this.#arn("transactional-id", name)],
        ownPrefix,
      ),
      this.#right(["DescribeGroup", "AlterGroup"], [this.#arn("group", name)], ownPrefix),
    ];
  }

  #sourceTopics(source: readonly string[] | RegExp): string[] {
    const names = source instanceof RegExp ? [`${literalPrefix(source)}*`] : source;
    return names.map((name) => this.#arn("topic", name));
  }

  #right(actions: readonly string[], resources: readonly string[], reason?: string): Right {
    return {
      actions: actions.map((action) => `kafka-cluster:${action}`),
      resources: [...new Set(resources)],
      ...(reason !== undefined && { reason }),
    };
  }

  /** `arn:aws:kafka:region:account:cluster/name/uuid` with another kind in place of `cluster`, and a name at its end. */
  #arn(kind: string, name: string): string {
    const arn = this.#clusterArn;
    const [before, after] = Token.isUnresolved(arn)
      ? [0, 1].map((index) => Fn.select(index, Fn.split(":cluster/", arn)))
      : arn.split(":cluster/");
    return `${before}:${kind}/${after}/${name}`;
  }
}

/** What all names that match as a whole begin with, as far as it is plain. */
export function literalPrefix({ source, flags }: RegExp): string {
  if (flags.includes("i") || source.includes("|")) return "";
  const [, literal = ""] = /^\^?([\w-]*)/.exec(source) ?? [];
  const next = source.replace(/^\^/, "").charAt(literal.length);
  return ["*", "?", "{"].includes(next) ? literal.slice(0, -1) : literal;
}
