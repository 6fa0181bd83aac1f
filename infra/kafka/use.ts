import { Parameter } from "../../shared/pipeline/parameter.ts";
import type { SinkDescription, SourceDescription, Topology } from "../../shared/pipeline/topology.ts";

/** Name of the parameter that names the cluster which `kafka` of StreamPipeline describes. */
export const brokersParameter = "brokers";

/** What a pipeline does with the cluster that its parameter `brokers` names. */
export interface KafkaUse {
  readonly pipeline: string;
  /** Topics that it reads, or the pattern of their names; absent: it reads something else. */
  readonly source: readonly string[] | RegExp | undefined;
  readonly sinks: readonly KafkaTarget[];
  /** Tasks write to the topics themselves, under a weaker guarantee. */
  readonly publishes: boolean;
}

export interface KafkaTarget {
  /** Absent where topics are computed from rows. */
  readonly topic: string | undefined;
  readonly markerTopic: string;
}

export const usesCluster = ({ parameters }: Topology): boolean =>
  parameters.some(({ name }) => name === brokersParameter);

/**
 * @param described with parameters in it, which tell the sources and sinks of this cluster from those of others
 * @param bound the same with values
 */
export function kafkaUseOf(described: Topology, bound: Topology): KafkaUse {
  const sinks = Object.entries(described.sinks).filter(([, sink]) => isOfCluster(sink));
  return {
    pipeline: described.name,
    publishes: described.guarantee !== "exactly-once",
    source: isOfCluster(sourceOf(described)) ? (sourceOf(bound).options.topics as KafkaUse["source"]) : undefined,
    sinks: sinks.map(([id]) => {
      const { topic, markerTopic } = bound.sinks[id]!.options;
      return { topic: typeof topic === "string" ? topic : undefined, markerTopic: String(markerTopic) };
    }),
  };
}

function isOfCluster({ kind, options }: SourceDescription | SinkDescription): boolean {
  if (kind !== "kafka") return false;
  const { brokers } = options.connection as { readonly brokers: readonly unknown[] };
  return brokers.some((each) => each instanceof Parameter && each.name === brokersParameter);
}

function sourceOf({ nodes: [node] }: Topology): SourceDescription {
  if (node?.kind === "source") return node.source;
  throw new Error("a topology begins with its source");
}
