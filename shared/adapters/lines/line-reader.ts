import type { RecordBatch } from "../../ports/source.ts";
import { passLines, type ReadableInput, type Span } from "./lines.ts";
import { beginsWithMark, byteOrderMark } from "./text-checks.ts";

/** Bytes a batch: large for the disk, small enough that a turn of the event loop stays short. */
const chunkBytes = 256 * 1024;
/** Rows a batch, at most. */
const chunkRows = 16 * 1024;
/** So much of a line that is too long is kept. */
const excerptBytes = 1024;

const lineFeed = 10;
const carriageReturn = 13;
/** `\r\n` */
const lineEndBytes = 2;

/** Room for one batch. Two of them take turns: one is filled while the consumer works on the other. */
class Slot {
  bytes: Buffer;
  readonly valueStart: Int32Array;
  readonly valueEnd: Int32Array;
  readonly offsets: Float64Array;

  constructor(bytes: number) {
    const rows = Math.min(chunkRows, bytes);
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.valueStart = new Int32Array(rows);
    this.valueEnd = new Int32Array(rows);
    this.offsets = new Float64Array(rows);
  }
}

/** `count` whole lines lie in the first `end` bytes; those at `tooLong` are longer than allowed. */
interface Scan {
  readonly count: number;
  readonly end: number;
  readonly tooLong: readonly number[];
}

/**
 * Reads the lines of a range, one batch ahead of its consumer. Each read begins at a line's start, so that no line is ever put together from two
 * buffers: one that does not end in its buffer is read again at the front of the next, and one longer than a buffer makes it grow, up to `maxLineBytes`.
 */
export class LineReader {
  readonly #file: ReadableInput;
  readonly #range: Span;
  readonly #maxLineBytes: number;
  readonly #chunkBytes: number;

  constructor(file: ReadableInput, range: Span, maxLineBytes: number) {
    this.#file = file;
    this.#range = range;
    this.#maxLineBytes = maxLineBytes;
    this.#chunkBytes = Math.min(chunkBytes, range.to - range.from);
  }

  async *batches(signal?: AbortSignal): AsyncGenerator<RecordBatch> {
    const { from, to } = this.#range;
    let slot = new Slot(this.#chunkBytes);
    let spare: Slot | undefined;
    let filling = this.#fill(slot, this.#chunkBytes, from);
    try {
      for (let position = from; position < to; ) {
        signal?.throwIfAborted();
        const batch = await this.#batch(slot, await filling, position);
        position = batch.next;
        if (position < to) {
          const next = spare ?? new Slot(this.#chunkBytes);
          filling = this.#fill(next, this.#chunkBytes, position);
          spare = slot;
          slot = next;
        }
        yield batch;
      }
    } finally {
      // The file must not be closed, nor an error go unheard, under a read that nobody waits for any more.
      await filling.catch(() => {});
    }
  }

  async #batch(slot: Slot, filled: number, position: number): Promise<RecordBatch> {
    for (let length = filled; ; ) {
      const scan = scanLines(slot, length, position, this.#maxLineBytes, position + length === this.#range.to);
      // The mark at the beginning of a text is no part of its first line.
      if (position === 0 && scan.count > 0 && beginsWithMark(slot.bytes)) skipMark(slot);
      if (scan.count > 0) return this.#toBatch(slot, scan, position + scan.end);
      if (length >= this.#maxLineBytes + lineEndBytes) return await this.#tooLong(slot, length, position);
      slot.bytes = Buffer.allocUnsafeSlow(Math.min(2 * length, this.#maxLineBytes + lineEndBytes));
      length = await this.#fill(slot, slot.bytes.length, position);
    }
  }

  /** A line whose end is not in the buffer, which is as long as it may get: its end is looked for, and its beginning kept. */
  async #tooLong(slot: Slot, length: number, position: number): Promise<RecordBatch> {
    const { position: next } = await passLines(this.#file, { from: position + length, to: this.#range.to }, 1);
    slot.valueStart[0] = 0;
    slot.valueEnd[0] = Math.min(excerptBytes, this.#maxLineBytes);
    slot.offsets[0] = position;
    return this.#toBatch(slot, { count: 1, end: length, tooLong: [0] }, next);
  }

  #toBatch({ bytes, valueStart, valueEnd, offsets }: Slot, { count, tooLong }: Scan, next: number): RecordBatch {
    const batch: RecordBatch = { bytes, count, valueStart, valueEnd, offsets, next };
    if (tooLong.length === 0) return batch;
    const error = `the line is longer than maxLineBytes (${this.#maxLineBytes})`;
    return { ...batch, errors: new Map(tooLong.map((row) => [row, error])) };
  }

  /** Returns a promise whose failure is heard when it is awaited, and does no harm before. */
  #fill(slot: Slot, bytes: number, position: number): Promise<number> {
    const length = Math.min(bytes, this.#range.to - position);
    const filling = this.#file.readAll(slot.bytes, length, position).then(() => length);
    filling.catch(() => {});
    return filling;
  }
}

function skipMark({ valueStart, valueEnd }: Slot): void {
  valueStart[0] = Math.min(byteOrderMark.length, valueEnd[0]!);
}

/**
 * Fills the slot's columns with the lines of its first `length` bytes. `last`: they end the range, so what follows the last line end is a line too.
 * `indexOf` is native: measured at 60 bytes a line it takes 30 ns a line, a loop over the bytes 180 ns.
 */
function scanLines(slot: Slot, length: number, position: number, maxLineBytes: number, last: boolean): Scan {
  const { valueStart, valueEnd, offsets } = slot;
  const bytes = slot.bytes.subarray(0, length);
  const tooLong: number[] = [];
  let count = 0;
  let start = 0;
  while (start < length && count < valueStart.length) {
    const found = bytes.indexOf(lineFeed, start);
    if (found === -1 && !last) break;
    const lineEnd = found === -1 ? length : found;
    let end = found > start && bytes[found - 1] === carriageReturn ? found - 1 : lineEnd;
    if (end - start > maxLineBytes) {
      tooLong.push(count);
      end = start + Math.min(excerptBytes, maxLineBytes);
    }
    valueStart[count] = start;
    valueEnd[count] = end;
    offsets[count] = position + start;
    count += 1;
    start = found === -1 ? length : found + 1;
  }
  return { count, end: start, tooLong };
}
