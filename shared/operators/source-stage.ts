import { UserCodeError } from "../errors.ts";
import { isStateful, type SourceNode } from "../pipeline/topology.ts";
import type { RecordBatch } from "../ports/source.ts";
import { Combiner } from "./combiner.ts";
import { counting, countingForm, type MutableCounts, newCounts } from "./counts.ts";
import type { StageEnvironment } from "./environment.ts";
import { Failures } from "./failures.ts";
import type { Keys } from "./keys.ts";
import { RecordOrigin } from "./origin.ts";
import type { Partials } from "./partials.ts";
import { RunningCombiner } from "./running-combiner.ts";
import { type SourceValues, sourceValues } from "./source-values.ts";
import { settled } from "./user-function.ts";
import type { Values } from "./values.ts";

/**
 * Rows, and bytes of values, that go through the chain at a time: few enough that what the operators make of them stays in the processor's cache,
 * and that a few large records, each of which becomes many values, do not fill memory.
 */
const sliceRows = 512;
const sliceBytes = 256 * 1024;

/** As for `Date`: beyond it sums of milliseconds are not exact. */
const latestTime = 8.64e15;

/**
 * Stage 0: decodes records, finds their event time, runs the chain up to sinks and aggregations, and folds what goes into these.
 * Per sub-range: `begin`, `process` for each batch in offset order, `end`.
 */
export class SourceStage {
  readonly counts: MutableCounts;
  /** Largest event time of each partition, epoch milliseconds; absent where no record had one. */
  readonly maxEventTimes = new Map<string, number>();
  readonly #environment: StageEnvironment;
  readonly #node: SourceNode;
  readonly #failures: Failures;
  readonly #combiners: ReadonlyMap<string, Combiner | RunningCombiner>;
  readonly #values: SourceValues;
  #partition = "";
  #rows = new Int32Array(sliceRows);
  #times = new Float64Array(sliceRows);

  constructor(environment: StageEnvironment) {
    const { topology } = environment;
    const stage = topology.stages[0]!;
    this.#environment = environment;
    this.#node = topology.nodes[0] as SourceNode;
    this.counts = newCounts(stage.sinks);
    const write = counting(this.counts.rows, environment.write);
    this.#failures = new Failures(environment, this.counts, write);
    const shuffles = topology.nodes.filter(isStateful).filter(({ id }) => stage.shuffles.includes(id));
    this.#combiners = new Map(
      shuffles.map((node) => [
        node.id,
        node.kind === "window"
          ? new Combiner(node, environment, this.counts, this.#failures, write)
          : new RunningCombiner(node, environment, this.#failures),
      ]),
    );
    const { writeTexts } = environment;
    const ends = {
      write,
      writeTexts: writeTexts && countingForm(this.counts.rows, writeTexts),
      keyed: (node: string, keys: Keys, values: Values) => this.#combiners.get(node)!.add(keys, values, this.#times),
      running: environment.running?.bind(environment),
    };
    this.#values = sourceValues(topology, ends, this.#failures, sliceRows);
  }

  /** A sub-range of a partition begins. */
  begin(partition: string): void {
    this.#partition = partition;
  }

  /** The next records of the sub-range. */
  process(batch: RecordBatch): void {
    for (let from = 0; from < batch.count; ) {
      const to = sliceEnd(batch, from);
      this.#processSlice(batch, from, to);
      from = to;
    }
  }

  /**
   * The accumulators of the sub-range that ends here, for all stateful nodes that this stage shuffles for.
   *
   * @param more whether another one follows: what comes to the same in whatever portions it is added up comes with a later one
   */
  end(more = false): Partials {
    return [...this.#combiners.values()].flatMap((combiner) => (more && combiner.mayGoOn ? [] : combiner.finish()));
  }

  #processSlice(batch: RecordBatch, from: number, to: number): void {
    const origin = new RecordOrigin(this.#partition, batch, from, this.#times, this.#node.source);
    this.#environment.running?.(this.#node.id, this.#partition, origin.offset(0));
    this.counts.records += to - from;
    const count = this.#take(batch, from, to, origin);
    this.#values.pass(origin, batch.bytes, this.#rows, count);
    this.#failures.flush();
  }

  /** Takes the values that have an event time, and returns how many these are; rows that fail are left out. */
  #take(batch: RecordBatch, from: number, to: number, origin: RecordOrigin): number {
    return this.#takeAll(batch, from, to) ? to - from : this.#takeEach(batch, from, to, origin);
  }

  /** Takes all rows at once, where nothing is wrong with any. */
  #takeAll(batch: RecordBatch, from: number, to: number): boolean {
    const { valueStart, valueEnd, timestamps, errors } = batch;
    if (errors !== undefined || timestamps === undefined || this.#node.source.timestamp !== undefined) return false;
    if (!this.#values.takeAll?.(batch, from, to)) return false;
    const [rows, times] = [this.#rows, this.#times];
    let size = 0;
    let latest = Number.NEGATIVE_INFINITY;
    for (let record = from; record < to; record++) {
      const time = timestamps[record]!;
      if (!isTime(time)) return false;
      const row = record - from;
      rows[row] = row;
      times[row] = wholeMilliseconds(time);
      if (time > latest) latest = time;
      size += valueEnd[record]! - valueStart[record]!;
    }
    this.#taken(size, wholeMilliseconds(latest));
    return true;
  }

  /** The same one after the other. */
  #takeEach(batch: RecordBatch, from: number, to: number, origin: RecordOrigin): number {
    const { bytes, valueStart, valueEnd, timestamps, errors } = batch;
    const { processingTime } = this.#environment;
    const hasOwnTime = this.#node.source.timestamp !== undefined;
    const values = this.#values;
    let kept = 0;
    let size = 0;
    let latest = Number.NEGATIVE_INFINITY;
    for (let record = from; record < to; ) {
      try {
        for (; record < to; record++) {
          if (errors?.has(record)) throw new UserCodeError("record-refused", errors.get(record)!);
          const start = valueStart[record]!;
          const end = valueEnd[record]!;
          size += start < 0 ? 0 : end - start;
          values.take(bytes, start, end, kept);
          const time = checkedTime(hasOwnTime ? values.time(bytes, kept) : (timestamps?.[record] ?? processingTime));
          if (time > latest) latest = time;
          const row = record - from;
          this.#times[row] = time;
          this.#rows[kept++] = row;
        }
      } catch (error) {
        this.#failures.record(this.#node.id, origin, record++ - from, error);
      }
    }
    this.#taken(size, latest);
    return kept;
  }

  /** @param latest event time; infinitely early if no record had one */
  #taken(bytes: number, latest: number): void {
    this.counts.bytes += bytes;
    const known = this.maxEventTimes.get(this.#partition) ?? Number.NEGATIVE_INFINITY;
    if (latest > known) this.maxEventTimes.set(this.#partition, latest);
  }
}

function sliceEnd({ count, valueStart, valueEnd }: RecordBatch, from: number): number {
  const last = Math.min(count, from + sliceRows);
  let to = from;
  for (let bytes = 0; to < last && bytes < sliceBytes; to++) bytes += valueEnd[to]! - valueStart[to]!;
  return to;
}

function isTime(time: unknown): time is number {
  return typeof time === "number" && Math.abs(time) <= latestTime;
}

/** A fraction is cut off. */
function wholeMilliseconds(time: number): number {
  return Math.floor(time) + 0; // never -0
}

/** Event time in whole milliseconds. */
function checkedTime(time: unknown): number {
  if (isTime(time)) return wholeMilliseconds(time);
  settled(time);
  const got = typeof time === "number" ? String(time) : `a value of type ${typeof time}`;
  throw new UserCodeError(
    "invalid-timestamp",
    `the event time is ${got}, and must be a number of milliseconds since 1970`,
  );
}
