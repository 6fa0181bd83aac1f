import { UsageError } from "../shared/errors.ts";
import type { SinkDescription, SourceDescription, Topology } from "../shared/pipeline/topology.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import type { Source } from "../shared/ports/source.ts";
import type { Connector, Options, Surroundings } from "./connector.ts";
import { isS3Path } from "./s3-path.ts";

/** Adapters by the kind of a description and where it points; loaded only where a pipeline has one of the kind. */
const kinds: Readonly<Record<string, (surroundings: Surroundings) => Promise<Connector>>> = {
  files: async (surroundings) => (await import("./files.ts")).filesConnector(surroundings),
  "files of s3": async () => (await import("./s3-files.ts")).s3FilesConnector(),
  kafka: async (surroundings) => (await import("./kafka.ts")).kafkaConnector(surroundings),
};

/** What the user has made himself comes from nowhere else. */
const isBuiltIn = ({ connector }: SourceDescription | SinkDescription) => connector === undefined;

const kindOf = ({ kind, options }: { readonly kind: string; readonly options: Options }) =>
  kind === "files" && isS3Path(options.path) ? "files of s3" : kind;

/** What a pipeline reads and writes. */
export interface Connectors {
  readonly source: Source;
  sink(id: string): TwoPhaseCommitSink;
  /** Closes all of them. */
  close(): Promise<void>;
}

/** @throws UsageError `unknown-connector`; those of the adapters, for options that are wrong */
export async function connect(topology: Topology, surroundings: Surroundings): Promise<Connectors> {
  const [node] = topology.nodes;
  if (node?.kind !== "source") throw new Error("a topology begins with its source");
  const used = new Set([node.source, ...Object.values(topology.sinks)].filter(isBuiltIn).map(kindOf));
  const connectors = new Map<string, Connector>();
  for (const kind of used) {
    if (!Object.hasOwn(kinds, kind)) throw unknownKind(topology, kind);
    connectors.set(kind, await kinds[kind]!(surroundings));
  }
  const { source: own, sinks } = await createOwn(node.source, topology, surroundings);
  const source = own ?? connectors.get(kindOf(node.source))!.source(node.source.options);
  return {
    source,
    sink(id) {
      const description = topology.sinks[id];
      if (description === undefined) throw sinkGone(topology, id);
      const sink = sinks.get(id) ?? connectors.get(kindOf(description))!.sink(description.options);
      sinks.set(id, sink);
      return sink;
    },
    async close() {
      for (const one of [source, ...sinks.values(), ...connectors.values()]) await one.close();
    },
  };
}

/** The source and the sinks that the user has made. */
async function createOwn(source: SourceDescription, topology: Topology, { bounded }: Surroundings) {
  const sinks = new Map<string, TwoPhaseCommitSink>();
  for (const [id, { connector, options }] of Object.entries(topology.sinks))
    if (connector) sinks.set(id, await connector.create(options, { bounded }));
  return { source: await source.connector?.create(source.options, { bounded }), sinks };
}

function sinkGone({ name }: Topology, id: string): UsageError {
  return new UsageError("sink-gone", `pipeline ${name} has no sink ${id} any more, but output of it to commit`, {
    wayOut: "bring the sink back until that is committed, or give its output up with `epochflow abandon`",
  });
}

function unknownKind({ name }: Topology, kind: string): UsageError {
  return new UsageError(
    "unknown-connector",
    `pipeline ${name} has a source or sink of kind ${kind}, which does not run here`,
    {
      wayOut: `kinds that do: ${Object.keys(kinds).join(", ")}`,
    },
  );
}
