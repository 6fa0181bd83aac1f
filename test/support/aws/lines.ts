import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { differences, expectedCounts } from "../kafka/counts.ts";

export interface TimedLine {
  readonly timestamp: number;
  readonly value: string;
}

const stepMs = 50;
const vocabulary = 40;
const mostProblems = 20;
/** What changed code adds to a row. */
const change = ',"changed":true';
/** Longer than any window. */
const gapMs = 3_600_000;

/** Lines of words, none earlier than the one before, and how often each word is in each ten seconds. */
export class LinesOfWords {
  readonly #random: SeededRandom;
  readonly #lines: TimedLine[] = [];
  /** The last ones, which close the windows of all others. */
  #ends: readonly TimedLine[] = [];
  /** Of the last one. */
  #time = 1_700_000_000_000;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  more(count: number, words: number): TimedLine[] {
    this.#lines.push(...this.#ends);
    this.#ends = [];
    const more = Array.from({ length: count }, () => {
      const value = Array.from({ length: words }, () => `w${this.#random.below(vocabulary)}`).join(" ");
      this.#time += stepMs;
      return { timestamp: this.#time, value };
    });
    this.#lines.push(...more);
    return more;
  }

  /** One for each partition. */
  close(partitions: number): readonly TimedLine[] {
    this.#lines.push(...this.#ends);
    this.#time += gapMs;
    this.#ends = Array.from({ length: partitions }, () => ({ timestamp: this.#time, value: "end" }));
    return this.#ends;
  }

  /** How the rows of closed windows, by whichever code, differ from those of a batch evaluation: some of it, if it is much. */
  problems(rows: readonly string[]): string[] {
    const plain = rows.map((row) => row.replace(change, ""));
    const { missing, extra } = differences(plain, expectedCounts(this.#lines.map((line) => ({ ...line, topic: "" }))));
    const told = [...missing.map((row) => `${row} is missing`), ...extra.map((row) => `${row} is too much`)];
    return told.length <= mostProblems ? told : [...told.slice(0, mostProblems), `${told.length} in all`];
  }
}
