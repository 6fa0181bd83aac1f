import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * Whether the files' rows, one a line, are exactly these counts, each once.
 *
 * @param expected counts by `<start of the window> <word>`
 * @returns how they differ; undefined if they do not
 */
export async function compareRows(
  files: readonly string[],
  expected: ReadonlyMap<string, number>,
): Promise<string | undefined> {
  const missing = new Map(expected);
  const differences = { doubled: 0, wrong: 0, unexpected: 0, missing: 0 };
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { word, windowStart, count } = JSON.parse(line);
      const key = `${windowStart} ${word}`;
      if (!expected.has(key)) differences.unexpected++;
      else if (!missing.delete(key)) differences.doubled++;
      else if (expected.get(key) !== count) differences.wrong++;
    }
  differences.missing = missing.size;
  const found = Object.entries(differences).filter(([, number]) => number > 0);
  return found.length === 0 ? undefined : found.map(([what, number]) => `${number} ${what}`).join(", ");
}

/** The files of Spark's sink: those that its log of committed batches names, a batch a file. */
export function committedFiles(folder: string): string[] {
  const log = join(folder, "_spark_metadata");
  const batches = readdirSync(log).filter((name) => !name.startsWith("."));
  return batches.flatMap((name) => {
    const [, ...entries] = readFileSync(join(log, name), "utf8").split("\n").filter(Boolean);
    return entries.map((entry) => JSON.parse(entry).path.replace("file://", ""));
  });
}
