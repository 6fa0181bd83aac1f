import type { Decision } from "../../epoch/epoch.ts";
import { UsageError } from "../../errors.ts";
import { checkOptions, didYouMean } from "../../options.ts";
import { bind } from "../../pipeline/bind.ts";
import { describe } from "../../pipeline/describe.ts";
import type { Definition } from "../../pipeline/graph.ts";
import type { Stream } from "../../pipeline/stream.ts";
import type { Topology } from "../../pipeline/topology.ts";
import { bytesOf, checkWhole } from "./arguments.ts";
import { TestEngine } from "./test-engine.ts";
import type { EncodedRecord, Written } from "./test-sink.ts";
import type { RecordOptions } from "./test-source.ts";

export interface PipelineTestOptions {
  /** Values of the pipeline's parameters. One that has no value and no default gets its own name as its value: nothing is read or written. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** How many partitions the source has; default 1. */
  readonly partitions?: number;
  /** Processing time at the beginning, epoch milliseconds; default 0. It moves only when the test says so. */
  readonly startTime?: number;
}

/** What an epoch came to, or all epochs together. */
export type TestCounts = Pick<Decision["counts"], "records" | "late" | "skipped" | "deadLettered">;

/**
 * A pipeline under test: its own operators, state and epochs, as they run anywhere, on a source and sinks in memory and with a time that stands still. Made by
 * `testPipeline`. Rows are of type T: those of the stream that the test was given.
 */
export class PipelineTest<T = unknown> {
  readonly #engine: TestEngine;
  readonly #parameters: Readonly<Record<string, string>>;
  #watermark: number | null = null;
  /** Records that were sent since the last epoch. */
  #waiting = 0;
  #isRunning = false;
  #counts: TestCounts = { records: 0, late: 0, skipped: 0, deadLettered: 0 };

  constructor(definition: Definition, options: PipelineTestOptions) {
    checkOptions("testPipeline()", options, ["parameters", "partitions", "startTime"]);
    const { parameters = {}, partitions = 1, startTime = 0 } = options;
    checkWhole("partitions of testPipeline()", partitions, 1);
    checkWhole("startTime of testPipeline()", startTime);
    this.#parameters = parameters;
    this.#engine = new TestEngine(boundTopology(definition, parameters), partitions, startTime);
  }

  /** W(n), epoch milliseconds; null before there is one. */
  get watermark(): number | null {
    return this.#watermark;
  }

  /** Processing time, epoch milliseconds. */
  get now(): number {
    return this.#engine.clock.now();
  }

  /** Of all epochs so far: records read, records in no window since they came too late (once a window), skipped, dead-lettered. */
  get counts(): TestCounts {
    return this.#counts;
  }

  /**
   * Writes a record to the source, for the next epoch to read. A text is sent as it is, bytes too, null is a tombstone, and what else JSON can say goes as JSON.
   *
   * @throws UsageError `no-such-partition`; `no-such-record` for what the source could not have, such as the headers of a line
   */
  send(value: string | Uint8Array | object | number | boolean | null, options: RecordOptions = {}): this {
    checkOptions("send()", options, ["key", "headers", "timestamp", "partition"]);
    if (options.timestamp !== undefined) checkWhole("timestamp of send()", options.timestamp);
    this.#engine.source.send(bytesOf(value), options, this.now);
    this.#waiting++;
    return this;
  }

  /**
   * Processes all that was sent, and commits: an epoch, at whose end the windows fire that the watermark has passed. Without anything to read there is one only if
   * idle partitions let the watermark pass a window.
   *
   * @throws EpochflowError as the pipeline would stop with, under `onError: "fail"`: `place` names operator, partition and offset
   */
  async epoch(): Promise<void> {
    await this.#run(null);
  }

  /** An epoch, at whose end the watermark is at this time, epoch milliseconds, or later: as if all partitions had come so far. */
  async advanceTo(time: number): Promise<void> {
    checkWhole("the time of advanceTo()", time);
    await this.#run(time);
  }

  /** Lets processing time pass, in milliseconds, and then does as `epoch`: partitions that were silent for long enough are idle. */
  async advanceProcessingTime(ms: number): Promise<void> {
    checkWhole("the time of advanceProcessingTime()", ms, 0);
    this.#engine.clock.advance(ms);
    await this.#run(null);
  }

  /**
   * Goes on as another process would, from ledger and snapshots alone: accumulators that do not survive being written and read show it from here on. A failure that stopped the
   * pipeline is over.
   *
   * @param changed the pipeline as it is now, which goes on with the state of the one before
   * @throws LossError `topology-changed` if it cannot
   */
  async restart(changed?: Definition): Promise<void> {
    await this.#engine.restart(changed ? boundTopology(changed, this.#parameters) : this.#engine.topology);
  }

  /**
   * All rows that a sink has got, as its readers see them: those of files have been JSON. Late records and dead letters have sinks, too: `window-1-late`, say, and
   * `dead-letter`. The type of a named sink's rows is the caller's word.
   *
   * @param sink id; it may be left out where only one `.to()` is
   * @throws UsageError `no-such-sink`; `not-processed` if something was sent since the last epoch, `epoch-under-way` if that is not over
   */
  rows<Row = T>(sink?: string): Row[] {
    return this.#written(this.#idOf(sink)).map(({ row }) => row as Row);
  }

  /** The same as the records that a Kafka sink writes. @throws UsageError `no-records` for another sink, and as `rows` */
  records(sink?: string): EncodedRecord[] {
    const id = this.#idOf(sink);
    if (this.#engine.topology.sinks[id]!.kind !== "kafka")
      throw new UsageError("no-records", `The sink ${id} does not write to Kafka`, { wayOut: "Ask for rows()." });
    return this.#written(id).flatMap(({ record }) => record ?? []);
  }

  async #run(advanceTo: number | null): Promise<void> {
    if (this.#isRunning) throw underWay();
    this.#isRunning = true;
    this.#waiting = 0;
    try {
      await this.#process(advanceTo);
    } finally {
      this.#isRunning = false;
    }
  }

  async #process(advanceTo: number | null): Promise<void> {
    for (const { counts, watermark } of await this.#engine.epochs(advanceTo)) {
      const { records, late, skipped, deadLettered } = this.#counts;
      this.#watermark = watermark;
      this.#counts = {
        records: records + counts.records,
        late: late + counts.late,
        skipped: skipped + counts.skipped,
        deadLettered: deadLettered + counts.deadLettered,
      };
    }
  }

  #written(sink: string): readonly Written[] {
    if (this.#isRunning) throw underWay();
    if (this.#waiting === 0) return this.#engine.output.get(sink)!;
    throw new UsageError("not-processed", `${this.#waiting} records were sent that no epoch has tried yet`, {
      wayOut: "await t.epoch(), or t.advanceTo(time), first.",
    });
  }

  /** Without an id the only sink that is no side one. */
  #idOf(sink: string | undefined): string {
    const { nodes, sinks } = this.#engine.topology;
    const main = nodes.filter(({ kind }) => kind === "sink");
    const id = sink ?? (main.length === 1 ? main[0]!.id : "");
    if (Object.hasOwn(sinks, id)) return id;
    const ids = Object.keys(sinks);
    const problem = sink === undefined ? "has several sinks" : `has no sink "${id}".${didYouMean(id, ids)}`;
    throw new UsageError("no-such-sink", `The pipeline ${problem}`, { wayOut: `Name one of them: ${ids.join(", ")}.` });
  }
}

/**
 * A driver for tests of a pipeline, as `TopologyTestDriver` is in Kafka Streams: `send` records, let epochs and time pass, and look at `rows`. Nothing is read or written but
 * memory.
 *
 * @param pipeline what a pipeline's module exports
 */
export function testPipeline<T>(pipeline: Stream<T, unknown>, options?: PipelineTestOptions): PipelineTest<T>;
export function testPipeline(pipeline: Definition, options?: PipelineTestOptions): PipelineTest;
export function testPipeline(pipeline: Definition, options: PipelineTestOptions = {}): PipelineTest {
  return new PipelineTest(pipeline, options);
}

/** What is not awaited would be an empty list, or two epochs at once. */
function underWay(): UsageError {
  return new UsageError("epoch-under-way", "The last epoch is not over yet", {
    wayOut: "Await it: await t.epoch(), await t.advanceTo(time).",
  });
}

/** All guarantees give the same where nothing fails. */
function boundTopology(definition: Definition, given: Readonly<Record<string, string>>): Topology {
  const topology = describe(definition);
  const names = topology.parameters.filter(({ defaultValue }) => defaultValue === undefined).map(({ name }) => name);
  return {
    ...bind(topology, { ...Object.fromEntries(names.map((name) => [name, name])), ...given }),
    guarantee: "exactly-once",
  };
}
