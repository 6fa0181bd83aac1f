import { UsageError } from "../../errors.ts";
import type { SourceDescription } from "../../pipeline/topology.ts";
import { recordBatch, type SourceRecord } from "../../ports/record-batch.ts";
import type { CutLimit, PartitionStatus, RecordBatch, Source, SourceRange } from "../../ports/source.ts";

/** What a record may have beside its value. */
export interface RecordOptions {
  readonly key?: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, string | Uint8Array>>;
  /** The record's own time, in epoch milliseconds; by default the processing time. */
  readonly timestamp?: number;
  /** Number of the partition, or its id; default 0. */
  readonly partition?: number | string;
}

interface Sent extends SourceRecord {
  /** Where the next record begins. */
  readonly next: number;
}

/** What a test has sent, as a source that never changes what it has once given. Offsets count as those of the pipeline's own source do. */
export class TestSource implements Source {
  readonly offsets: "bytes" | "records";
  readonly #kind: string;
  readonly #partitions: ReadonlyMap<string, Sent[]>;

  constructor({ kind, options }: SourceDescription, partitions: number) {
    this.#kind = kind;
    this.offsets = kind === "files" ? "bytes" : "records";
    const topics = options.topics as readonly string[] | RegExp | undefined;
    const name = Array.isArray(topics) ? `${topics[0]}/` : "partition-";
    this.#partitions = new Map(Array.from({ length: partitions }, (_, number) => [`${name}${number}`, []]));
  }

  send(value: string | Uint8Array | null, { partition = 0, ...options }: RecordOptions, now: number): void {
    const ids = [...this.#partitions.keys()];
    const id = typeof partition === "number" ? ids[partition] : partition;
    const records = id === undefined ? undefined : this.#partitions.get(id);
    if (!records)
      throw new UsageError("no-such-partition", `There is no partition ${partition}, only ${ids.join(", ")}`, {
        wayOut: "Say how many there are: testPipeline(pipeline, { partitions: 2 }).",
      });
    if (this.#kind === "files") checkLine(value, options);
    const offset = records.at(-1)?.next ?? 0;
    const next = offset + (this.#kind === "files" ? Buffer.byteLength(value ?? "") + 1 : 1);
    records.push(
      this.#kind === "files" ? { offset, value, next } : { timestamp: now, ...options, offset, value, next },
    );
  }

  async discover(): Promise<PartitionStatus[]> {
    return [...this.#partitions].map(([id, records]) => {
      const end = records.at(-1)?.next ?? 0;
      return { id, identity: id, start: 0, end, high: end };
    });
  }

  async cut(range: SourceRange, limit: CutLimit) {
    const records = this.#of(range).slice(0, limit.records);
    const to = records.at(-1)?.next ?? range.to;
    return { to, records: records.length, bytes: records.reduce((sum, one) => sum + sizeOf(one), 0) };
  }

  async split(): Promise<number[]> {
    return [];
  }

  async *read(range: SourceRange): AsyncIterable<RecordBatch> {
    const records = this.#of(range);
    if (records.length > 0) yield recordBatch(records, range.to);
  }

  async place({ id }: SourceRange, offset: number) {
    const line = (this.#partitions.get(id) ?? []).findIndex((record) => record.offset === offset) + 1;
    return this.#kind === "files" ? { line } : {};
  }

  async close(): Promise<void> {}

  #of({ id, from, to }: SourceRange): Sent[] {
    return this.#partitions.get(id)?.filter(({ offset }) => offset >= from && offset < to) ?? [];
  }
}

const sizeOf = ({ value }: SourceRecord) => Buffer.byteLength(value ?? "");

/** A test that passes with what no file can give would prove nothing. */
function checkLine(value: string | Uint8Array | null, options: Omit<RecordOptions, "partition">): void {
  const [given] = Object.keys(options);
  const isLine = value !== null && !Buffer.from(value).includes("\n");
  if (isLine && given === undefined) return;
  const problem = given === undefined ? (value === null ? "nulls" : "line feeds in a line") : `a ${given}`;
  throw new UsageError("no-such-record", `The pipeline reads files, whose lines have no ${problem.replace("a ", "")}`);
}
