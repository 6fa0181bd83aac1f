import { UsageError, UserCodeError } from "../errors.ts";
import type { DeadLetterRow, Topology } from "../pipeline/topology.ts";
import type { MutableCounts } from "./counts.ts";
import type { StageEnvironment, WriteRows } from "./environment.ts";
import type { Origin } from "./origin.ts";

/** What a dead-letter row says of where the value came from. */
export type Described = Omit<DeadLetterRow, "error" | "operator">;

/**
 * What becomes of values that fail (protocol §4, `onError`). A failure concerns one element: a value that a `flatMap` made of a record, or a
 * (value, window) pair in an aggregate. Its siblings live, so one record may be counted, or dead-lettered, more than once.
 */
export class Failures {
  readonly #topology: Topology;
  readonly #counts: MutableCounts;
  readonly #write: WriteRows;
  readonly #processingTime: number;
  #letters: { place: number; letter: DeadLetterRow }[] = [];

  constructor({ topology, processingTime }: StageEnvironment, counts: MutableCounts, write: WriteRows) {
    this.#topology = topology;
    this.#processingTime = processingTime;
    this.#counts = counts;
    this.#write = write;
  }

  /** A value failed that has a source record. @throws UserCodeError under `onError: "fail"` */
  record(operator: string, origin: Origin, row: number, error: unknown, window?: Partial<Described>): void {
    // A wrong pipeline, not a bad record: skipping would skip everything.
    if (error instanceof UsageError) throw error;
    const { onError } = this.#topology;
    if (onError.action === "fail") throw this.#recordError(operator, origin, row, error);
    if (onError.action === "skip") this.#counts.skipped++;
    else this.#letter(row, { error: reasonOf(error), operator, ...origin.describe(row), ...window });
  }

  /** A row that an aggregate made failed. It stands for many records, so `skip` fails the epoch too. @throws UserCodeError */
  derived(operator: string, keyGroup: number, described: Described, error: unknown): void {
    if (this.#topology.onError.action !== "deadLetter") throw this.#derivedError(operator, described, error);
    this.#letter(keyGroup, { error: reasonOf(error), operator, ...described });
  }

  /**
   * Writes the dead letters since the last call. Those of records, per batch, in the order of rows, and those of derived rows, per epoch, in the order
   * of key groups: so that they depend neither on how records are cut into batches, nor on the number of tasks (I6). Their event time is the plan's: what failed
   * may have had none.
   */
  flush(): void {
    if (this.#letters.length === 0) return;
    const letters = this.#letters.sort((a, b) => a.place - b.place).map(({ letter }) => letter);
    this.#letters = [];
    const { onError } = this.#topology;
    if (onError.action === "deadLetter") this.#write(onError.sink, letters, () => this.#processingTime);
  }

  #letter(place: number, letter: DeadLetterRow): void {
    this.#counts.deadLettered++;
    this.#letters.push({ place, letter });
  }

  #recordError(operator: string, origin: Origin, row: number, error: unknown): UserCodeError {
    const { name } = this.#topology;
    const { partition } = origin;
    const offset = origin.offset(row);
    return new UserCodeError(
      codeOf(error),
      `Operator "${operator}" of pipeline "${name}" failed on the record at offset ${offset} of "${partition}": ${reasonOf(error)}`,
      {
        wayOut: `${wayOutOf(error)}, or set \`onError\` to "skip" or to a dead-letter sink. To mend the record itself, begin anew with \`epochflow reset\`.`,
        place: { pipeline: name, operator, partition, offset },
        cause: error,
      },
    );
  }

  #derivedError(operator: string, { windowStart }: Described, error: unknown): UserCodeError {
    const { name } = this.#topology;
    const what = windowStart === undefined ? "running aggregation" : `window that starts at ${windowStart}`;
    return new UserCodeError(
      codeOf(error),
      `Operator "${operator}" of pipeline "${name}" failed on a row of the ${what}: ${reasonOf(error)}`,
      {
        wayOut: `${wayOutOf(error)}, or set \`onError\` to a dead-letter sink.`,
        place: { pipeline: name, operator },
        cause: error,
      },
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof UserCodeError ? error.code : "function-failed";
}

/** What the error itself advises, without its full stop. */
function wayOutOf(error: unknown): string {
  const advice = error instanceof UserCodeError ? error.wayOut : undefined;
  return advice?.replace(/\.$/, "") ?? "Mend the function";
}

/** The first line of the error's message, of a bounded length. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const line = text.split("\n", 1)[0]!;
  return line.length > 300 ? `${line.slice(0, 300).toWellFormed()}…` : line;
}
