import type { Lag, PartitionLag } from "../../local/lag.ts";
import { decidedIn, type EpochRow } from "../../shared/epoch/epoch.ts";
import type { OpenPipeline } from "../open-pipeline.ts";
import { offsetsOf } from "../status.ts";

/** How far a pipeline was behind its source when its last epoch was planned: the source itself may be out of reach. */
export async function plannedLag({ ledger, head }: Pick<OpenPipeline, "ledger" | "head">): Promise<Lag> {
  const rows = await ledger.epochs({ from: Math.max(1, head.decided), to: head.decided + 1 });
  const decision = decidedIn(rows.find(({ epoch }) => epoch === head.decided));
  const positions = new Map((decision?.partitions ?? []).map(({ id, position }) => [id, position]));
  const last = rows.at(-1);
  // A restore looks at no source.
  const looked = last !== undefined && decidedIn(last)?.kind !== "restore";
  return {
    partitions: looked ? partitionsOf(last, positions) : [],
    offsets: offsetsOf(head),
    watermark: decision?.watermark ?? null,
    asOf: looked ? last.plan.processingTime : null,
  };
}

function partitionsOf({ plan }: EpochRow, positions: ReadonlyMap<string, number>): PartitionLag[] {
  return plan.partitions.map(({ id, from, to, seen }) => {
    const position = positions.get(id) ?? from;
    const { end, high } = seen ?? { end: to, high: to };
    return { id, position, end, high, watermark: null };
  });
}
