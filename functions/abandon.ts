import { abandonSink } from "../shared/epoch/abandon.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { EpochflowError, type ErrorDescription } from "../shared/errors.ts";

/** A person gives up output that can never be committed. */
export interface AbandonInput {
  readonly abandon: {
    readonly sink: string;
    readonly epoch: number;
    /** The sink's service is gone for good, and is not asked whether it has the output after all. */
    readonly unasked?: true;
  };
}

/** What is wrong with the wish is an answer for whoever has it, and no failure of the function. */
export type AbandonAnswer =
  | { readonly abandoned: Awaited<ReturnType<typeof abandonSink>> & AbandonInput["abandon"] }
  | { readonly error: ErrorDescription };

/** A verb of `commit`, which reaches the sinks, where who wishes it may not. */
export async function abandonStep(engine: Engine, { abandon }: AbandonInput): Promise<AbandonAnswer> {
  const { epoch, sink, unasked } = abandon;
  const { ledger, topology, uid } = engine;
  try {
    const target = unasked ? {} : engine.sink(sink);
    const counts = await abandonSink({ ledger, target, pipeline: topology.name, uid }, epoch, sink);
    return { abandoned: { ...abandon, ...counts } };
  } catch (error) {
    if (error instanceof EpochflowError && error.kind !== "infrastructure") return { error: error.describe() };
    throw error;
  }
}
