import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { UsageError } from "../shared/errors.ts";
import type { KafkaSinkSettings, KafkaSourceSettings } from "../shared/pipeline/connectors/kafka.ts";
import type { KafkaConnectionSettings } from "../shared/pipeline/connectors/kafka-connection.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { ObjectStore } from "../shared/ports/object-store.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import type { Source } from "../shared/ports/source.ts";

type Options = Readonly<Record<string, unknown>>;

/** One kind of sources and sinks. */
interface Connector {
  source(options: Options): Source;
  sink(options: Options): TwoPhaseCommitSink;
  /** Closes what its sources and sinks share. */
  close(): Promise<void>;
}

interface Surroundings {
  readonly objects: ObjectStore;
  readonly bounded: boolean;
}

/** Adapters by the kind of a description; loaded only where a pipeline has one of the kind. */
const kinds: Readonly<Record<string, (surroundings: Surroundings) => Promise<Connector>>> = {
  files: filesConnector,
  kafka: kafkaConnector,
};

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
  const used = new Set([node.source.kind, ...Object.values(topology.sinks).map(({ kind }) => kind)]);
  const connectors = new Map<string, Connector>();
  for (const kind of used) {
    if (!Object.hasOwn(kinds, kind)) throw unknownKind(topology, kind);
    connectors.set(kind, await kinds[kind]!(surroundings));
  }
  const source = connectors.get(node.source.kind)!.source(node.source.options);
  const sinks = new Map<string, TwoPhaseCommitSink>();
  return {
    source,
    sink(id) {
      const description = topology.sinks[id];
      if (description === undefined) throw sinkGone(topology, id);
      const sink = sinks.get(id) ?? connectors.get(description.kind)!.sink(description.options);
      sinks.set(id, sink);
      return sink;
    },
    async close() {
      for (const one of [source, ...sinks.values(), ...connectors.values()]) await one.close();
    },
  };
}

async function filesConnector({ bounded }: Surroundings): Promise<Connector> {
  const [{ createFilesSource }, { createFilesSink }] = await Promise.all([
    import("../shared/adapters/filesystem/source.ts"),
    import("../shared/adapters/filesystem/sink.ts"),
  ]);
  return {
    source: (options) => createFilesSource({ ...(options as { path: string }), bounded }),
    sink: (options) => createFilesSink(options as { path: string }),
    close: async () => {},
  };
}

/** One client a cluster, which its sources and sinks share. */
async function kafkaConnector({ objects, bounded }: Surroundings): Promise<Connector> {
  const [{ createKafkaClient }, { createKafkaSource }, { createKafkaSink }, { resolveConnection }] = await Promise.all([
    import("../shared/adapters/kafka/kafkajs.ts"),
    import("../shared/adapters/kafka/source/source.ts"),
    import("../shared/adapters/kafka/sink/sink.ts"),
    import("../shared/adapters/kafka/connection/connection.ts"),
  ]);
  type Client = ReturnType<typeof createKafkaClient>;
  const clients = new Map<KafkaConnectionSettings, Client>();
  const clientOf = (settings: KafkaConnectionSettings): Client => {
    const client = clients.get(settings) ?? createKafkaClient(resolveConnection(settings));
    clients.set(settings, client);
    return client;
  };
  const ports = { clock: systemClock, random: systemRandom };
  return {
    source(options) {
      const settings = options as unknown as KafkaSourceSettings;
      return createKafkaSource(settings, clientOf(settings.connection), { bounded, ...ports });
    },
    sink(options) {
      const settings = options as unknown as KafkaSinkSettings;
      return createKafkaSink(settings, clientOf(settings.connection), objects, ports);
    },
    close: async () => void (await Promise.all([...clients.values()].map((client) => client.close()))),
  };
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
