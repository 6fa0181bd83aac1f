import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Decision } from "../shared/epoch/epoch.ts";
import { decidedIn } from "../shared/epoch/epoch.ts";
import { bind } from "../shared/pipeline/bind.ts";
import type { HeldBack, Source } from "../shared/ports/source.ts";
import { connectLocally, openLedger, statePaths } from "./compose.ts";
import { loadPipeline } from "./load.ts";
import type { RunOptions } from "./options.ts";

export interface PartitionLag {
  readonly id: string;
  /** Everything below is in decided epochs. */
  readonly position: number;
  /** Readable up to here, and written up to here: of a topic its last stable offset and its high watermark. */
  readonly end: number;
  readonly high: number;
  /** Largest event time so far - `outOfOrder`, epoch milliseconds; null before the first record. */
  readonly watermark: number | null;
}

export interface Lag {
  readonly partitions: readonly PartitionLag[];
  /** What an offset counts. */
  readonly offsets: Source["offsets"];
  /** The pipeline's own, over all partitions. */
  readonly watermark: number | null;
  /** Open transactions that keep what was written from being read; absent where nobody has looked. */
  readonly heldBack?: readonly HeldBack[];
  /** When the ends were where they are said to be, epoch milliseconds. Absent: now; null: nobody has looked yet. */
  readonly asOf?: number | null;
}

/** How far a pipeline is behind its source. Reads both, and changes nothing; a pipeline that was never run is behind by everything. */
export async function lagOf(
  module: string | URL,
  options: Pick<RunOptions, "parameters" | "name" | "state"> = {},
): Promise<Lag> {
  const loaded = await loadPipeline(module);
  const topology = bind(loaded.topology, options.parameters ?? {}, options.name);
  const state = options.state ?? join(".epochflow", topology.name);
  const { source, close } = await connectLocally(topology, state);
  try {
    const decision = await lastDecision(state);
    const known = new Map((decision?.partitions ?? []).map((one) => [one.id, one]));
    const [node] = topology.nodes;
    const outOfOrderMs = node?.kind === "source" ? node.source.outOfOrderMs : 0;
    const found = (await source.discover([...known.values()])).filter(({ isRecord }) => !isRecord);
    const partitions = found.map(({ id, start, end, high }): PartitionLag => {
      const maxEventTime = known.get(id)?.maxEventTime ?? null;
      const watermark = maxEventTime === null ? null : maxEventTime - outOfOrderMs;
      return { id, position: known.get(id)?.position ?? start, end, high, watermark };
    });
    // Who may not see transactions still sees how far behind they are.
    const heldBack = await source.heldBack?.().catch(() => undefined);
    const watermark = decision?.watermark ?? null;
    return { partitions, offsets: source.offsets, watermark, ...(heldBack && { heldBack }) };
  } finally {
    await close();
  }
}

async function lastDecision(state: string): Promise<Decision | undefined> {
  if (!existsSync(statePaths(state).ledger)) return undefined;
  const ledger = openLedger(state);
  try {
    return decidedIn(await ledger.epoch((await ledger.head())?.decided ?? 0));
  } finally {
    await ledger.close();
  }
}
