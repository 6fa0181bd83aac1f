import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";

const windowMs = 10_000;

/** How often each word comes in each window of ten seconds, by `<start of the window> <word>`. */
export type WordCounts = Map<string, number>;

export interface CountRow {
  readonly word: string;
  readonly windowStart: number;
  readonly count: number;
}

/** The counts of a file of `<time> TAB <words>`, in one pass, without the engine. */
export async function countWords(file: string): Promise<WordCounts> {
  const counts: WordCounts = new Map();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
    countLine(counts, line);
  return counts;
}

/** Adds the words of one line. */
export function countLine(counts: WordCounts, line: string): void {
  const [time, words] = line.split("\t");
  const windowStart = Number(time) - (Number(time) % windowMs);
  for (const word of words!.split(" ")) {
    const key = `${windowStart} ${word}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}

/** @throws Error unless the rows of an output folder, of the epochs after one, are these counts, each once */
export async function checkFolder(folder: string, expected: ReadonlyMap<string, number>, after = 0): Promise<void> {
  await checkRows(parsed(readRows(folder, { after })), expected);
}

/** @throws Error unless the rows are these counts, each once */
export async function checkRows(
  rows: Iterable<CountRow> | AsyncIterable<CountRow>,
  expected: ReadonlyMap<string, number>,
): Promise<void> {
  const missing = new Map(expected);
  for await (const { word, windowStart, count } of rows) {
    const key = `${windowStart} ${word}`;
    if (missing.get(key) !== count) throw new Error(`wrong result for ${key}: ${count}, not ${missing.get(key)}`);
    missing.delete(key);
  }
  if (missing.size > 0) throw new Error(`${missing.size} of ${expected.size} results are missing`);
}

async function* parsed(lines: AsyncIterable<string>): AsyncGenerator<CountRow> {
  for await (const line of lines) yield JSON.parse(line);
}
