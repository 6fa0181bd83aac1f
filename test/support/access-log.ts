import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generateLines } from "../../examples/generate-access-log.ts";

/** The main job. */
export const module = fileURLToPath(new URL("../../examples/access-log.ts", import.meta.url));

/** A real log with what must come of it, computed by others; not part of this repository. */
const sample = new URL("../../../shared/data/access-log/", import.meta.url);
const sampleLog = fileURLToPath(new URL("access.log", sample));
export const missingSample = existsSync(sampleLog) ? false : `${sampleLog} is missing`;
export const sampleInput = sampleLog;
export const expectedOfSample = (): string[] => readLines(fileURLToPath(new URL("expected-status-1h.jsonl", sample)));

export const readLines = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");

/** Writes a generated log, and gives its lines. */
export function writeLog(file: string, options: { lines: number; seed: number; days: number }): string[] {
  const lines = [...generateLines(options)];
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return lines;
}

/** Requests and bytes by hour and status, in one pass over all lines; sorted JSON lines. */
export function evaluateLog(lines: readonly string[]): string[] {
  const rows = new Map<string, { windowStart: number; key: string; count: number; bytes: number }>();
  for (const line of lines) {
    const [, time, key, bytes] = /\[([^\]]+)\] "(?:[^"\\]|\\.)*" (\d+) (\d+|-) /.exec(line)!;
    const [, day, month, year, clock, zone] = /^(\d+)\/(\w+)\/(\d+):([\d:]+) (.*)$/.exec(time!)!;
    const hour = 3_600_000;
    const windowStart = Math.floor(Date.parse(`${day} ${month} ${year} ${clock} ${zone}`) / hour) * hour;
    const row = rows.get(`${windowStart} ${key}`) ?? { windowStart, key: key!, count: 0, bytes: 0 };
    rows.set(`${windowStart} ${key}`, row);
    row.count += 1;
    row.bytes += bytes === "-" ? 0 : Number(bytes);
  }
  return [...rows.values()].map((row) => JSON.stringify(row)).sort();
}
