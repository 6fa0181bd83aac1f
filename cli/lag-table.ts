import { describeHeldBack } from "../local/held-back.ts";
import type { Lag, PartitionLag } from "../local/lag.ts";
import { type Column, formatCount, formatDuration, formatInstant, formatOffsets, formatTable } from "./format.ts";

interface LagColumn extends Column {
  readonly cell: (partition: PartitionLag) => string;
  /** Of a topic: files know no transactions. */
  readonly ofTopic?: true;
}

const columns: readonly LagColumn[] = [
  { title: "partition", cell: ({ id }) => id },
  { title: "position", align: "right", cell: ({ position }) => formatCount(position) },
  { title: "stable end", align: "right", ofTopic: true, cell: ({ end }) => formatCount(end) },
  { title: "end", align: "right", cell: ({ high }) => formatCount(high) },
  { title: "backlog", align: "right", cell: (partition) => formatCount(backlogOf(partition)) },
  { title: "open", align: "right", ofTopic: true, cell: ({ end, high }) => formatCount(high - end) },
];
const watermarks: LagColumn = { title: "watermark", cell: ({ watermark }) => formatInstant(watermark) };

/** Never below zero: an end that was seen before may lie behind. */
const backlogOf = ({ end, position }: PartitionLag): number => Math.max(0, end - position);

/** A row for each partition, and the sum. "open": written, but in transactions that are not over, and so not readable yet. */
export function formatLag({ partitions, offsets, watermark, heldBack = [], asOf }: Lag, now: number): string {
  if (asOf === null) return "Nothing has been planned yet, or nothing since a restore: no ends are known.";
  if (partitions.length === 0) return "The source has no partitions.";
  // From the ledger alone the watermarks of partitions are not known.
  const shown = [...columns, ...(asOf === undefined ? [watermarks] : [])].filter(
    ({ ofTopic }) => offsets === "records" || ofTopic === undefined,
  );
  const table = formatTable(
    shown,
    partitions.map((partition) => shown.map(({ cell }) => cell(partition))),
  );
  const backlog = partitions.reduce((sum, partition) => sum + backlogOf(partition), 0);
  const when = asOf === undefined ? "" : `\n${formatAsOf(asOf, now)}`;
  const held = heldBack.map((one) => `\n${describeHeldBack(one)}`).join("");
  return `${table}\n\nbacklog ${formatOffsets(backlog, offsets)}, watermark ${formatInstant(watermark)}${when}${held}`;
}

function formatAsOf(asOf: number, now: number): string {
  const age = formatDuration(Math.max(0, now - asOf));
  return `Ends are as of the last plan of an epoch, at ${formatInstant(asOf)}, ${age} ago; positions are as of now.`;
}
