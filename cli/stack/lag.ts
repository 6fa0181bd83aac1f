import type { Lag } from "../../local/lag.ts";
import { plannedEnds, readSnapshot } from "../../local/watch/snapshot.ts";
import type { OpenPipeline } from "../open-pipeline.ts";

/** How far a pipeline was behind its source when its last epoch was planned: the source itself may be out of reach. */
export async function plannedLag({ ledger, head }: Pick<OpenPipeline, "ledger" | "head">): Promise<Lag> {
  const snapshot = (await readSnapshot(ledger, head))!;
  const { partitions, asOf } = plannedEnds(snapshot);
  return {
    partitions: partitions.map(({ id, position, end, high }) => ({ id, position, end, high, watermark: null })),
    offsets: snapshot.offsets,
    watermark: snapshot.last?.decision.watermark ?? null,
    asOf,
  };
}
