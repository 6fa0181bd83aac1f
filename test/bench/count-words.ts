import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";

const windowMs = 10_000;

/** How often each word comes in each window of ten seconds, as `<start of the window> <word>`: counted in one pass, without the engine. */
export async function countWords(file: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const [time, words] = line.split("\t");
    const windowStart = Number(time) - (Number(time) % windowMs);
    for (const word of words!.split(" ")) {
      const key = `${windowStart} ${word}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

/** @throws Error unless the rows of an output folder are these counts, each once */
export async function checkRows(folder: string, expected: ReadonlyMap<string, number>): Promise<void> {
  const missing = new Map(expected);
  for await (const line of readRows(folder)) {
    const { word, windowStart, count } = JSON.parse(line);
    const key = `${windowStart} ${word}`;
    if (missing.get(key) !== count) throw new Error(`wrong result for ${key}: ${count}, not ${missing.get(key)}`);
    missing.delete(key);
  }
  if (missing.size > 0) throw new Error(`${missing.size} of ${expected.size} results are missing`);
}
