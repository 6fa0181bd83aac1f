import { Duration } from "aws-cdk-lib";
import { UsageError } from "../../shared/errors.ts";
import type { Topology } from "../../shared/pipeline/topology.ts";
import type { StreamPipelineProps } from "../props.ts";
import { brokersParameter, type KafkaUse, usesCluster } from "./use.ts";

type Props = Pick<StreamPipelineProps, "kafka" | "heartbeat" | "triggerTopics" | "batchingWindow">;

/** @throws UsageError `missing-kafka`, `unused-kafka` */
export function checkCluster(described: Topology, { kafka }: Props): void {
  const { name } = described;
  if (usesCluster(described) && kafka === undefined)
    throw new UsageError("missing-kafka", `Pipeline ${name} reads or writes Kafka, but no cluster is given`, {
      wayOut: "Give StreamPipeline kafka: Kafka.msk(cluster) or Kafka.selfManaged({ bootstrapServers, … }).",
    });
  if (!usesCluster(described) && kafka !== undefined)
    throw new UsageError("unused-kafka", `Pipeline ${name} has no use for the cluster in \`kafka\``, {
      wayOut: `It is for sources and sinks whose connection has the parameter "${brokersParameter}", as those have that name none. Otherwise leave it out.`,
    });
}

/**
 * Topics whose records wake the pipeline.
 *
 * @param use absent for a pipeline without a cluster
 * @throws UsageError `never-woken`, `unused-option`, `invalid-option`
 */
export function triggerTopicsOf(use: KafkaUse | undefined, props: Props): readonly string[] {
  const { triggerTopics, heartbeat } = props;
  if (use?.source === undefined) {
    const unused = (["triggerTopics", "batchingWindow"] as const).find((name) => props[name] !== undefined);
    if (unused === undefined) return [];
    throw new UsageError("unused-option", `${unused} is for a pipeline that reads from the cluster in \`kafka\``);
  }
  checkWindow(props.batchingWindow);
  const topics = triggerTopics ?? (use.source instanceof RegExp ? [] : use.source);
  if (topics.length > 0 || heartbeat !== "off") return [...new Set(topics)];
  throw new UsageError("never-woken", `Nothing would wake pipeline ${use.pipeline}`, {
    wayOut: "Name triggerTopics, or leave the heartbeat on: a pattern of topics has no event source mapping.",
  });
}

const longestWindow = Duration.minutes(5);

function checkWindow(window: Duration | undefined): void {
  if (window === undefined || window.toSeconds() <= longestWindow.toSeconds()) return;
  throw new UsageError(
    "invalid-option",
    `batchingWindow is ${window.toSeconds()} s, but Lambda waits for ${longestWindow.toSeconds()} at most`,
  );
}
