import type { Lag, PartitionLag } from "../local/lag.ts";
import { type Column, formatCount, formatInstant, formatOffsets, formatTable } from "./format.ts";

interface LagColumn extends Column {
  readonly cell: (partition: PartitionLag) => string;
}

const columns: readonly LagColumn[] = [
  { title: "partition", cell: ({ id }) => id },
  { title: "position", align: "right", cell: ({ position }) => formatCount(position) },
  { title: "stable end", align: "right", cell: ({ end }) => formatCount(end) },
  { title: "end", align: "right", cell: ({ high }) => formatCount(high) },
  { title: "backlog", align: "right", cell: ({ end, position }) => formatCount(end - position) },
  { title: "open", align: "right", cell: ({ end, high }) => formatCount(high - end) },
  { title: "watermark", cell: ({ watermark }) => formatInstant(watermark) },
];

/** A row for each partition, and the sum. "open": written, but in transactions that are not over, and so not readable yet. */
export function formatLag({ partitions, offsets, watermark }: Lag): string {
  if (partitions.length === 0) return "The source has no partitions.";
  const table = formatTable(
    columns,
    partitions.map((partition) => columns.map(({ cell }) => cell(partition))),
  );
  const backlog = partitions.reduce((sum, { end, position }) => sum + end - position, 0);
  return `${table}\n\nbacklog ${formatOffsets(backlog, offsets)}, watermark ${formatInstant(watermark)}`;
}
