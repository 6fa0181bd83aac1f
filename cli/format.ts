import type { LostSoFar } from "../shared/epoch/epoch.ts";

const numbers = new Intl.NumberFormat("en-US");
const threeDigits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** `1,234,567`. */
export function formatCount(value: number): string {
  return numbers.format(value);
}

/** `1 record`, `2 records`. */
export function formatCounted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** Decimal units, three digits: `999 B`, `1.23 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  // What would round to 1000 belongs to the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${threeDigits.format(value)} ${units[unit]}`;
}

/** A distance between offsets: `1.2 MB`, `1,234 records`. */
export function formatOffsets(distance: number, unit: "bytes" | "records"): string {
  return unit === "bytes" ? formatBytes(distance) : formatCounted(distance, "record");
}

/** `12 ms`, `3.4 s`, `1 min 05 s`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0:12`, `1:02:03`: for what changes several times a second. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const tail = `${twoDigits(seconds % 60)}`;
  return minutes < 60 ? `${minutes}:${tail}` : `${Math.floor(minutes / 60)}:${twoDigits(minutes % 60)}:${tail}`;
}

/** A time in UTC to the second, `2015-05-17 10:05:03Z`; milliseconds themselves outside the range of dates. */
export function formatInstant(ms: number | null): string {
  if (ms === null) return "none yet";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  return `${date.toISOString().replace("T", " ").slice(0, -5)}Z`;
}

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

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** What at-most-once may have lost. */
export function formatLost({ epochs, shares, rows }: LostSoFar): string {
  const what = [
    ...(shares > 0 ? [`${formatCounted(shares, "task")} of input`] : []),
    ...(rows > 0 ? [`perhaps ${formatCounted(rows, "row")}`] : []),
  ];
  return `${what.join(", ")}, in ${formatCounted(epochs, "epoch")}`;
}
