import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeLines } from "../../examples/support/generator-command.ts";
import { type SeededRandom, seededRandom } from "../../examples/support/seeded-random.ts";

export const WORDS_A_LINE = 10;
const VOCABULARY = 10_000;
const SEED = 42;
/** Event time of the first line; each next one is a millisecond later. */
export const START = 1_700_000_000_000;

/**
 * Lines for `examples/word-count.ts`: `<epoch milliseconds> TAB <ten words>`. Words are drawn from a vocabulary of 10,000 random ones; the k-th comes with a
 * probability in proportion to 1/k (Zipf's law), as in natural language.
 */
export function* generateLines(lines: number): Generator<string> {
  const random = seededRandom(SEED);
  const words = drawVocabulary(random);
  const rank = zipf(random, words.length);
  for (let index = 0; index < lines; index++) {
    let line = `${START + index}\t${words[rank()]}`;
    for (let word = 1; word < WORDS_A_LINE; word++) line += ` ${words[rank()]}`;
    yield line;
  }
}

/** The lines as a file in the temporary folder, made the first time. */
export async function cachedLines(lines: number): Promise<string> {
  const file = join(tmpdir(), "epochflow-bench", `lines-${lines}-${SEED}.tsv`);
  if (!existsSync(file)) await writeLines(generateLines(lines), file);
  return file;
}

/** Distinct lower-case words of 3 to 9 letters. */
function drawVocabulary(random: SeededRandom): string[] {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const letters = Array.from({ length: random.between(3, 9) }, () => random.between(0x61, 0x7a));
    words.add(String.fromCharCode(...letters));
  }
  return [...words];
}

/** Draws ranks from 0: a search in the running sum of the weights. */
function zipf(random: SeededRandom, size: number): () => number {
  const sums = new Float64Array(size);
  for (let rank = 0, sum = 0; rank < size; rank++) sums[rank] = sum += 1 / (rank + 1);
  const total = sums[size - 1]!;
  return () => {
    const wanted = random.next() * total;
    let low = 0;
    for (let high = size - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if (sums[middle]! <= wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
