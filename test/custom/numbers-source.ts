import { type RecordBatch, recordBatch, type Source, type SourceRange } from "epochflow";

const bytesPerRecord = 10;
const batchRecords = 50;

/** Partitions `p0`, `p1`, … of as many records, which count from 0; one a second. */
export class NumbersSource implements Source {
  readonly offsets = "records";
  readonly #partitions: number;
  readonly #count: number;

  constructor(partitions: number, count: number) {
    this.#partitions = partitions;
    this.#count = count;
  }

  async discover() {
    const range = { identity: "numbers", start: 0, end: this.#count, high: this.#count };
    return Array.from({ length: this.#partitions }, (_, index) => ({ id: `p${index}`, ...range }));
  }

  async cut({ from, to }: SourceRange, { bytes, records }: { bytes?: number; records?: number }) {
    const most = Math.min(records ?? to, Math.floor((bytes ?? to * bytesPerRecord) / bytesPerRecord));
    const end = Math.min(to, from + Math.max(1, most));
    return { to: end, records: end - from, bytes: (end - from) * bytesPerRecord };
  }

  async split({ from, to }: SourceRange, pieceBytes: number): Promise<number[]> {
    const step = Math.max(1, Math.ceil(pieceBytes / bytesPerRecord));
    return Array.from({ length: Math.ceil((to - from) / step) - 1 }, (_, index) => from + (index + 1) * step);
  }

  async *read({ id, from, to }: SourceRange, signal?: AbortSignal): AsyncIterable<RecordBatch> {
    for (let at = from; at < to; at += batchRecords) {
      signal?.throwIfAborted();
      const next = Math.min(to, at + batchRecords);
      const records = Array.from({ length: next - at }, (_, index) => ({
        offset: at + index,
        value: String(at + index),
        key: id,
        timestamp: (at + index) * 1000,
      }));
      yield recordBatch(records, next);
    }
  }

  async close(): Promise<void> {}
}
