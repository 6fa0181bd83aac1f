import { medianOf } from "../figures.ts";

/** One part of the engine, to be measured alone. */
export interface Part {
  readonly name: string;
  /** For the table: what is done to what. */
  readonly about: string;
  /** What its cost is told for one of. */
  readonly unit: "record" | "row" | "key";
  prepare(sizes: Sizes): Promise<Prepared>;
}

export interface Sizes {
  /** Lines of ten words. */
  readonly records: number;
  /** Keys of state. */
  readonly keys: number;
}

/** A part with its input. */
export interface Prepared<Result = unknown> {
  /** How many records, rows or keys a run is about. */
  readonly units: number;
  /** Makes what one run uses up, which is not measured; what it gives is the run. */
  ready(): Promise<() => Result | Promise<Result>>;
  /** @throws Error if the result of a run is wrong */
  check(result: Result): Promise<void> | void;
  close?(): Promise<void> | void;
}

export interface PartFigures {
  readonly part: string;
  readonly about: string;
  readonly unit: Part["unit"];
  readonly units: number;
  readonly runs: number;
  /** Of the process, garbage collection and compilation included, for one unit: the median of the runs. */
  readonly cpuMicroseconds: number;
}

/** Runs whose figures do not count: V8 compiles. */
const warmUps = 2;

/** @throws Error if a result is wrong */
export async function measurePart(part: Part, sizes: Sizes, runs: number): Promise<PartFigures> {
  const prepared = await part.prepare(sizes);
  try {
    const figures: number[] = [];
    for (let run = -warmUps; run < runs; run++) {
      const work = await prepared.ready();
      const before = process.cpuUsage();
      const result = await work();
      const { user, system } = process.cpuUsage(before);
      await prepared.check(result);
      if (run >= 0) figures.push((user + system) / prepared.units);
    }
    const { name, about, unit } = part;
    return { part: name, about, unit, units: prepared.units, runs, cpuMicroseconds: medianOf(figures) };
  } finally {
    await prepared.close?.();
  }
}
