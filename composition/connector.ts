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

export interface Surroundings {
  readonly objects: ObjectStore;
  readonly bounded: boolean;
}
