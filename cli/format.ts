import { formatCount, formatCounted } from "../local/format.ts";
import type { LostSoFar } from "../shared/epoch/epoch.ts";

export * from "../local/format.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

/** A table of plain text. A cell may have several lines. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map((column) => column.title), ...rows.flatMap(splitCells)];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const pad = (text: string, index: number): string =>
    columns[index]?.align === "right" ? text.padStart(widths[index]!) : text.padEnd(widths[index]!);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

/** A row as rows whose cells have one line each. */
function splitCells(row: readonly string[]): string[][] {
  const cells = row.map((cell) => cell.split("\n"));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ""));
}

/** `name   value` lines, with the values below each other; so are the lines of one value. */
export function formatFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length)) + 2;
  return fields
    .map(([name, value]) => `${name.padEnd(width)}${value.replaceAll("\n", `\n${" ".repeat(width)}`)}`)
    .join("\n");
}

/** One a line; of many the first ones, and how many more there are. */
export function formatSome(lines: readonly string[], most: number): string {
  if (lines.length === 0) return "none";
  const more = lines.length > most ? [`and ${formatCount(lines.length - most)} more`] : [];
  return [...lines.slice(0, most), ...more].join("\n");
}

/** What at-most-once may have lost. */
export function formatLost({ epochs, shares, rows }: LostSoFar): string {
  const what = [
    ...(shares > 0 ? [`${formatCounted(shares, "task")} of input`] : []),
    ...(rows > 0 ? [`perhaps ${formatCounted(rows, "row")}`] : []),
  ];
  return `${what.join(", ")}, in ${formatCounted(epochs, "epoch")}`;
}
