import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import type { Shape } from "./shape.ts";

export interface InputRecord {
  readonly id: number;
  readonly key: string;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** As it is written into the source. */
export interface InputLine {
  readonly partition: number;
  readonly text: string;
}

/** @throws for a line that is no record */
export function parseRecord(text: string): InputRecord {
  const [id, key, time] = text.split(" ");
  if (time === undefined) throw new Error("this is no record");
  return { id: Number(id), key: key!, time: Number(time) };
}

const firstTime = 1_700_000_000_000;
/** Event time between two records. */
const stepMs = 20;
/** One in so many is no record, one lies as far back as is allowed, and one so far that it may be late. */
const badOneIn = 150;
const backOneIn = 20;
const lateOneIn = 60;
/** How far back, beyond what is allowed. */
const mostLateMs = 30_000;

/** A record, and how far its partition was when it was written: what may be late depends on it. */
export interface Placed extends InputRecord {
  /** The largest time before it in its partition. */
  readonly largestBefore: number;
}

/** Makes a round's input, and knows all of it. */
export class Records {
  readonly good: Placed[] = [];
  /** Lines that are no records. */
  readonly bad: string[] = [];
  readonly #random: SeededRandom;
  readonly #shape: Shape;
  readonly #largest: number[];
  #next = 0;

  constructor(random: SeededRandom, shape: Shape) {
    this.#random = random;
    this.#shape = shape;
    this.#largest = Array.from({ length: shape.partitions }, () => Number.NEGATIVE_INFINITY);
  }

  get count(): number {
    return this.#next;
  }

  /** In turn for all partitions, so that each is about as far as the others. */
  more(count: number): InputLine[] {
    return Array.from({ length: count }, () => this.#one(this.#next++));
  }

  #one(id: number): InputLine {
    const random = this.#random;
    const partition = id % this.#shape.partitions;
    if (random.below(badOneIn) === 0) {
      const text = `bad-${id}`;
      this.bad.push(text);
      return { partition, text };
    }
    const time = firstTime + id * stepMs - this.#behind();
    const record = { id, key: `k${random.below(this.#shape.keys)}`, time };
    const largestBefore = this.#largest[partition]!;
    this.good.push({ ...record, largestBefore });
    this.#largest[partition] = Math.max(largestBefore, time);
    return { partition, text: `${id} ${record.key} ${time}` };
  }

  #behind(): number {
    const { outOfOrderMs, allowedLatenessMs } = this.#shape;
    if (this.#random.below(backOneIn) === 0) return this.#random.below(outOfOrderMs);
    if (this.#random.below(lateOneIn) === 0) return outOfOrderMs + allowedLatenessMs + this.#random.below(mostLateMs);
    return 0;
  }
}
