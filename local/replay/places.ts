import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isS3Path } from "../../composition/s3-path.ts";
import { UsageError } from "../../shared/errors.ts";
import { kafka } from "../../shared/pipeline/connectors/kafka.ts";
import type { KafkaConnectionSettings } from "../../shared/pipeline/connectors/kafka-connection.ts";
import type { SinkDescription, SourceDescription, Topology } from "../../shared/pipeline/topology.ts";
import { displayPath } from "../paths.ts";

/** A folder or prefix, or a topic of a cluster. */
export type Place =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "topic"; readonly topic: string; readonly connection: KafkaConnectionSettings };

/** Where records go: a place, or, of Kafka, each to the topic and partition that it came from. */
export type Target = Place | { readonly kind: "origin"; readonly connection: KafkaConnectionSettings };

export interface Places {
  readonly from: Place;
  readonly to: Target;
}

export interface PlaceOptions {
  /** A folder or prefix, or `topic:NAME`. Not needed with a pipeline, whose records go back to where they came from. */
  readonly to?: string | undefined;
  /** For topics, where no pipeline says how its cluster is reached. */
  readonly brokers?: string | undefined;
}

const topicPrefix = "topic:";

/** Of a pipeline whose parameters are bound: its dead letters, back into its source. @throws UsageError `no-dead-letters`, `target-needed`, `brokers-needed` */
export function placesOfPipeline(topology: Topology, { to, brokers }: PlaceOptions): Places {
  const { name, onError, sinks, nodes } = topology;
  if (onError.action !== "deadLetter")
    throw new UsageError(
      "no-dead-letters",
      `Pipeline ${name} keeps no dead letters: its onError is "${onError.action}"`,
      {
        wayOut: "Name the folder or topic that has them, or set onError: deadLetter(sink).",
      },
    );
  const [node] = nodes;
  if (node?.kind !== "source") throw new Error("a topology begins with its source");
  const connection =
    brokers === undefined ? connectionOf([node.source, sinks[onError.sink]!, ...Object.values(sinks)]) : plain(brokers);
  return {
    from: placeOfSink(sinks[onError.sink]!, connection),
    to: to === undefined ? originOf(node.source, connection) : placeOf(to, connection),
  };
}

/** Of a folder, or of `topic:NAME`. @throws UsageError as above */
export function placesOf(from: string, { to, brokers }: PlaceOptions): Places {
  const connection = brokers === undefined ? undefined : plain(brokers);
  if (to === undefined)
    throw new UsageError("target-needed", "Where shall the records go?", {
      wayOut:
        "Add --to FOLDER or --to topic:NAME; or name the pipeline's module: then they go back to where they came from.",
    });
  return { from: placeOf(from, connection), to: placeOf(to, connection) };
}

/** For people, and to know a replay again by. */
export function describePlace(place: Target): string {
  if (place.kind === "folder") return isS3Path(place.path) ? place.path : displayPath(place.path);
  return place.kind === "topic" ? `topic ${place.topic}` : "the topics that they came from";
}

const plain = (brokers: string) => kafka.connection({ brokers });

function placeOf(text: string, connection: KafkaConnectionSettings | undefined): Place {
  if (!text.startsWith(topicPrefix)) return { kind: "folder", path: isS3Path(text) ? text : resolve(text) };
  const topic = text.slice(topicPrefix.length);
  if (connection !== undefined) return { kind: "topic", topic, connection };
  throw new UsageError("brokers-needed", `Which cluster has the topic ${topic}?`, {
    wayOut:
      "Add --brokers HOST:PORT; or, for TLS and SASL, name a pipeline's module with a connection instead of the folder or topic.",
  });
}

function placeOfSink({ kind, options }: SinkDescription, connection: KafkaConnectionSettings | undefined): Place {
  if (kind === "files") return placeOf(String(options.path), undefined);
  if (kind === "kafka" && typeof options.topic === "string") return placeOf(topicPrefix + options.topic, connection);
  throw new UsageError("letters-elsewhere", `Dead letters in a sink of kind ${kind} cannot be read from here`, {
    wayOut: "Those of files sinks can, and those of Kafka sinks with one topic.",
  });
}

function originOf({ kind, options }: SourceDescription, connection: KafkaConnectionSettings | undefined): Target {
  if (kind === "kafka" && connection !== undefined) return { kind: "origin", connection };
  const isFolder = kind === "files" && statSync(String(options.path), { throwIfNoEntry: false })?.isDirectory();
  if (isFolder) return placeOf(String(options.path), undefined);
  throw new UsageError("target-needed", "The pipeline reads no folder and no topic that records could go back to", {
    wayOut: "Add --to FOLDER, and run the pipeline on that folder, under a --name of its own.",
  });
}

/** The pipeline's own, TLS and SASL included. */
function connectionOf(described: readonly { kind: string; options: Readonly<Record<string, unknown>> }[]) {
  const one = described.find(({ kind }) => kind === "kafka");
  return one?.options.connection as KafkaConnectionSettings | undefined;
}
