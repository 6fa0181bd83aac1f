import { type Counts, decidedIn, type EpochRow } from "../shared/epoch/epoch.ts";
import { type Column, formatCount, formatDuration, formatInstant, formatSome, formatTable } from "./format.ts";

interface EpochColumn extends Column {
  readonly cell: (row: EpochRow) => string;
  /** Left out where no epoch has any. */
  readonly optional?: true;
}

const countOf = (count: (counts: Counts) => number) => (row: EpochRow) =>
  row.status === "decided" ? formatCount(count(row.decision.counts)) : "";
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const columns: readonly EpochColumn[] = [
  { title: "epoch", align: "right", cell: (row) => String(row.epoch) },
  { title: "status", cell: formatStatus },
  { title: "attempt", align: "right", cell: (row) => String(row.attempt) },
  { title: "tasks", align: "right", cell: ({ attemptPlan: { tasks, fused } }) => (fused ? "fused" : tasks.join("+")) },
  { title: "records", align: "right", cell: countOf((counts) => counts.records) },
  { title: "rows", align: "right", cell: countOf((counts) => sum(Object.values(counts.rows))) },
  { title: "late", align: "right", cell: countOf((counts) => counts.late), optional: true },
  { title: "skipped", align: "right", cell: countOf((counts) => counts.skipped), optional: true },
  { title: "dead", align: "right", cell: countOf((counts) => counts.deadLettered), optional: true },
  { title: "lost", align: "right", cell: formatLoss, optional: true },
  { title: "planned", cell: (row) => formatInstant(row.plannedAt) },
  { title: "decided", align: "right", cell: formatDecided },
  { title: "committed", align: "right", cell: formatCommitted },
  { title: "ranges", cell: (row) => formatSome(rangesOf(row), 3) },
];

/** A table with a row for each epoch; times are since the plan, and since the decision. */
export function formatEpochs(rows: readonly EpochRow[]): string {
  if (rows.length === 0) return "No epoch has been planned yet.";
  const isEmpty = ({ cell }: EpochColumn) => rows.every((row) => ["", "0"].includes(cell(row)));
  const shown = columns.filter((column) => !(column.optional === true && isEmpty(column)));
  const table = formatTable(
    shown,
    rows.map((row) => shown.map((column) => column.cell(row))),
  );
  return [table, ...failedAttempts(rows)].join("\n");
}

/** A line for each attempt that failed, as far as the ledger remembers it. */
function failedAttempts(rows: readonly EpochRow[]): string[] {
  const failed = rows.flatMap(({ epoch, attempt, plannedAt, failure, earlier = [] }) =>
    [...earlier, ...(failure ? [{ attempt, plannedAt, error: failure.error }] : [])].map((one) => ({ epoch, ...one })),
  );
  if (failed.length === 0) return [];
  const lines = failed.map(
    ({ epoch, attempt, plannedAt, error }) =>
      `  epoch ${epoch}, attempt ${attempt}, planned ${formatInstant(plannedAt)}: ${error.message}`,
  );
  return ["", "attempts that failed:", ...lines];
}

function formatStatus(row: EpochRow): string {
  if (row.status !== "decided") return row.status;
  if (row.decision.kind === "restore") return "restored";
  return row.committedAt === null ? "decided" : "committed";
}

/** Rows that may be lost, and tasks whose share is. */
function formatLoss(row: EpochRow): string {
  const { shares, rows } = decidedIn(row)?.loss ?? { shares: [], rows: {} };
  const lost = sum(Object.values(rows));
  return [...(lost > 0 ? [formatCount(lost)] : []), ...(shares.length > 0 ? [`${shares.length} tasks`] : [])].join("+");
}

function formatDecided(row: EpochRow): string {
  return row.status === "decided" ? `+${formatDuration(row.decision.decidedAt - row.plannedAt)}` : "";
}

function formatCommitted(row: EpochRow): string {
  if (row.status !== "decided" || row.committedAt === null) return "";
  return `+${formatDuration(row.committedAt - row.decision.decidedAt)}`;
}

function rangesOf({ plan }: EpochRow): string[] {
  return plan.partitions
    .filter(({ from, to }) => to > from)
    .map(({ id, from, to }) => `${id} ${formatCount(from)}-${formatCount(to)}`);
}
