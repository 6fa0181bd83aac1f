import type { KafkaConnection } from "../shared/adapters/kafka/connection/connection.ts";
import type { ObjectStore } from "../shared/ports/object-store.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import type { Source } from "../shared/ports/source.ts";

export type Options = Readonly<Record<string, unknown>>;

/** One kind of sources and sinks. */
export interface Connector {
  source(options: Options): Source;
  sink(options: Options): TwoPhaseCommitSink;
  /** Closes what its sources and sinks share. */
  close(): Promise<void>;
}

/** How a deployment gets into its cluster. */
export interface KafkaAccess extends Pick<KafkaConnection, "tls" | "sasl"> {
  /** Value of the parameter of this name, which the default connection has. */
  readonly brokers: string;
}

export interface Surroundings {
  readonly objects: ObjectStore;
  readonly bounded: boolean;
  /** The process goes on between two epochs. Others may be frozen, and whatever is under way then is lost. */
  readonly stays?: boolean;
  /** For connections to its brokers that say nothing of TLS and SASL themselves. */
  readonly kafkaAccess?: KafkaAccess | undefined;
}
