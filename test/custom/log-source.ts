import {
  type KnownPartition,
  LossError,
  type RecordBatch,
  recordBatch,
  type Source,
  type SourceRange,
} from "epochflow";

const batchRecords = 1000;

/** Records in memory, by partition: what outlives the instances of a source. */
export type Log = Map<string, string[]>;

/** A source whose offsets count records. */
export class LogSource implements Source {
  readonly offsets = "records";
  protected readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  async discover(known: readonly KnownPartition[]) {
    for (const { id, position } of known) if ((this.log.get(id)?.length ?? 0) < position) throw recordsGone(id);
    return [...this.log].map(([id, { length }]) => ({ id, identity: id, start: 0, end: length, high: length }));
  }

  async cut({ id, from, to }: SourceRange, { bytes = Number.POSITIVE_INFINITY, records = to - from }) {
    let size = 0;
    let end = from;
    for (; end < to && end - from < records; end++) {
      const next = Buffer.byteLength(this.log.get(id)![end]!);
      if (end > from && size + next > bytes) break;
      size += next;
    }
    return { to: end, records: end - from, bytes: size };
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    const cuts: number[] = [];
    for (let from = range.from; from < range.to; cuts.push(from))
      ({ to: from } = await LogSource.prototype.cut.call(this, { ...range, from }, { bytes: pieceBytes }));
    return cuts.slice(0, -1);
  }

  async *read({ id, from, to }: SourceRange, signal?: AbortSignal): AsyncIterable<RecordBatch> {
    if ((this.log.get(id)?.length ?? 0) < to) throw recordsGone(id);
    for (let at = from; at < to; at += batchRecords) {
      signal?.throwIfAborted();
      const next = Math.min(to, at + batchRecords);
      const values = this.log.get(id)!.slice(at, next);
      yield recordBatch(
        values.map((value, index) => ({ offset: at + index, value })),
        next,
      );
    }
  }

  async close(): Promise<void> {}
}

const recordsGone = (id: string) =>
  new LossError("records-gone", `${id} has lost records that are still to be read`, {
    wayOut: "Bring them back, and `epochflow resume`.",
    place: { partition: id },
  });
