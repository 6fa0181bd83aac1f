import type { DecidedEpoch, EpochRow } from "../../shared/epoch/epoch.ts";
import type { Fingerprint } from "../../shared/pipeline/fingerprint.ts";
import type { Head, Ledger, Wake } from "../../shared/ports/ledger.ts";

/** Where a pipeline is, as its ledger has it: what `status`, the metrics and the page show of it. */
export interface Snapshot {
  readonly head: Head;
  readonly wake: Wake;
  /** The last decided epoch, and the oldest that is decided and not committed. */
  readonly last: DecidedEpoch | null;
  readonly uncommitted: DecidedEpoch | null;
  /** The epoch after them, planned or fenced. */
  readonly next: EpochRow | null;
  /** What an offset of the source counts. */
  readonly offsets: "bytes" | "records";
}

/** A partition, with the ends that the last plan saw. */
export interface PlannedEnds {
  readonly id: string;
  /** Everything below is in decided epochs. */
  readonly position: number;
  /** Readable up to here, and written up to here. */
  readonly end: number;
  readonly high: number;
  /** Largest event time so far, epoch milliseconds; null before the first record. */
  readonly maxEventTime: number | null;
  /** Did not hold the watermark back in the last epoch that was planned. */
  readonly idle: boolean;
}

/** @param head as it was read just now; without it, it is read. Undefined: nothing was ever made here */
export async function readSnapshot(ledger: Ledger, head?: Head): Promise<Snapshot | undefined> {
  const now = head ?? (await ledger.head());
  if (now === undefined) return undefined;
  const { decided, committed } = now;
  const rows = await shownEpochs(ledger, { from: Math.max(1, decided), to: decided + 1 });
  const [oldest] = committed < decided ? await shownEpochs(ledger, { from: committed + 1, to: committed + 1 }) : [];
  return {
    head: now,
    wake: await ledger.wake(),
    last: decidedRow(rows.find((row) => row.epoch === decided)),
    uncommitted: decidedRow(oldest),
    next: rows.find((row) => row.epoch === decided + 1) ?? null,
    offsets: offsetsOf(now),
  };
}

/** Rows for people: with partitions alone, without what the source has to remember besides. */
export async function shownEpochs(ledger: Ledger, range: { from: number; to: number }): Promise<EpochRow[]> {
  return (await ledger.epochs(range)).map(withoutRecords);
}

function withoutRecords(row: EpochRow): EpochRow {
  const records = new Set(row.plan.partitions.flatMap(({ id, isRecord }) => (isRecord ? [id] : [])));
  const isShown = ({ id }: { readonly id: string }) => !records.has(id);
  const plan = { ...row.plan, partitions: row.plan.partitions.filter(isShown) };
  if (row.status !== "decided") return { ...row, plan };
  return { ...row, plan, decision: { ...row.decision, partitions: row.decision.partitions.filter(isShown) } };
}

const decidedRow = (row: EpochRow | undefined): DecidedEpoch | null => (row?.status === "decided" ? row : null);

/** What an offset of the source counts. */
export function offsetsOf({ fingerprint }: Head): Snapshot["offsets"] {
  const { sources } = JSON.parse(fingerprint) as Fingerprint;
  return Object.values(sources).includes("files") ? "bytes" : "records";
}

/** The partitions as the last plan saw them, and when; `asOf` null: there is no plan, or none since a restore, which looks at no source. */
export function plannedEnds({ last, next }: Pick<Snapshot, "last" | "next">): {
  readonly partitions: readonly PlannedEnds[];
  readonly asOf: number | null;
} {
  const row = next ?? last;
  if (row === null || (row.status === "decided" && row.decision.kind === "restore"))
    return { partitions: [], asOf: null };
  const states = new Map((last?.decision.partitions ?? []).map((state) => [state.id, state]));
  const partitions = row.plan.partitions.map(({ id, from, to, seen, idle, maxEventTime }): PlannedEnds => {
    const state = states.get(id);
    const { end, high } = seen ?? { end: to, high: to };
    return {
      id,
      position: state?.position ?? from,
      end,
      high,
      maxEventTime: state?.maxEventTime ?? maxEventTime,
      idle,
    };
  });
  return { partitions, asOf: row.plan.processingTime };
}
