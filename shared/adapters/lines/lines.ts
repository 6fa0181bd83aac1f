/** Where lines begin and end in a file, by position; nothing here looks at what is in them. */
import type { CutLimit } from "../../ports/source.ts";

/** An input that can be read at any position. */
export interface ReadableInput {
  /** Reads so many bytes from `position` into the start of the buffer. Throws if the input has fewer. */
  readAll(buffer: Buffer, length: number, position: number): Promise<void>;
  /** Reading at a position before that of the last read begins anew. */
  readonly sequential?: true;
}

const lineFeed = 10;
const carriageReturn = 13;
const blockBytes = 128 * 1024;

/** Positions `[from, to)`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Goes over at most `count` lines of `[from, to)`. Returns where it stopped, and the number of line ends that it passed. What follows the last line
 * end is passed too, uncounted, if `count` is not reached before.
 */
export async function passLines(file: ReadableInput, { from, to }: Span, count: number) {
  const block = Buffer.allocUnsafe(Math.min(blockBytes, to - from));
  let passed = 0;
  for (let position = from; position < to && count > 0; ) {
    const length = Math.min(block.length, to - position);
    await file.readAll(block, length, position);
    const view = block.subarray(0, length);
    for (let at = view.indexOf(lineFeed); at !== -1; at = view.indexOf(lineFeed, at + 1)) {
      passed += 1;
      if (passed === count) return { position: position + at + 1, passed };
    }
    position += length;
  }
  return { position: count > 0 ? to : from, passed };
}

/** The end of the last whole line of `[from, to)`; `from` if there is none. */
export async function lastLineEnd(file: ReadableInput, { from, to }: Span): Promise<number> {
  const block = Buffer.allocUnsafe(Math.min(blockBytes, to - from));
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - block.length);
    await file.readAll(block, end - start, start);
    const at = block.subarray(0, end - start).lastIndexOf(lineFeed);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return from;
}

/** Whether a line ends right before a position. */
export async function endsLine(file: ReadableInput, position: number): Promise<boolean> {
  const byte = Buffer.allocUnsafe(1);
  await file.readAll(byte, 1, position - 1);
  return byte[0] === lineFeed;
}

/**
 * Where the first line of `[from, to)` begins: at `from`, but where a line was read before it had its end, which has been appended since: that is no
 * empty line.
 */
export async function firstLine(file: ReadableInput, { from, to }: Span): Promise<number> {
  if (from === 0 || from >= to || (await endsLine(file, from))) return from;
  const bytes = Buffer.alloc(2);
  await file.readAll(bytes, Math.min(2, to - from), from);
  if (bytes[0] === lineFeed) return from + 1;
  return bytes[0] === carriageReturn && bytes[1] === lineFeed ? from + 2 : from;
}

/**
 * Where a limit cuts a span, and how many lines are before it if that was to be counted. A cut by bytes is the largest line end within them, or the end of the first line if that is
 * longer; one by records is exact.
 */
export async function cutLines(
  file: ReadableInput,
  span: Span,
  limit: CutLimit,
): Promise<{ to: number; records?: number; bytes: number }> {
  const { from } = span;
  const { bytes, records } = limit;
  if (bytes === undefined && records === undefined) return { to: span.to, bytes: span.to - from };
  if (file.sequential) return await cutForward(file, span, limit);
  const to = bytes === undefined ? span.to : await cutBytes(file, span, bytes);
  if (records === undefined) return { to, bytes: to - from };
  const lines = { from: await firstLine(file, { from, to }), to };
  const cut = await cutRecords(file, lines, Math.max(1, Math.floor(records)));
  return { ...cut, bytes: cut.to - from };
}

/** The same in one go. */
async function cutForward(file: ReadableInput, { from, to }: Span, limit: CutLimit) {
  const target = limit.bytes === undefined ? to : Math.min(to, from + Math.max(1, Math.floor(limit.bytes)));
  const most = limit.records === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limit.records));
  if (target === to && most === Number.POSITIVE_INFINITY) return { to, bytes: to - from };
  const block = Buffer.allocUnsafe(Math.min(blockBytes, to - from));
  let passed = 0;
  let end = from;
  for (let position = from; position < to && passed < most && (position < target || end === from); ) {
    const length = Math.min(block.length, to - position);
    await file.readAll(block, length, position);
    const view = block.subarray(0, length);
    for (let at = view.indexOf(lineFeed); at !== -1 && passed < most; at = view.indexOf(lineFeed, at + 1)) {
      const next = position + at + 1;
      if (next > target && end > from) return { to: end, records: passed, bytes: end - from };
      end = next;
      passed += 1;
    }
    position += length;
  }
  const isLast = passed < most && end < to && (target === to || end === from);
  return isLast ? { to, records: passed + 1, bytes: to - from } : { to: end, records: passed, bytes: end - from };
}

/** The largest line end within `bytes` of `from`, or the end of the first line if that is longer. */
async function cutBytes(file: ReadableInput, { from, to }: Span, bytes: number): Promise<number> {
  const target = from + Math.max(1, Math.floor(bytes));
  if (target >= to) return to;
  const end = await lastLineEnd(file, { from, to: target });
  return end > from ? end : (await passLines(file, { from: target, to }, 1)).position;
}

/** Exactly `records` lines, or fewer where the span has no more; an unfinished last line is one. */
async function cutRecords(file: ReadableInput, { from, to }: Span, records: number) {
  const { position, passed } = await passLines(file, { from, to }, records);
  if (passed === records) return { to: position, records };
  const unfinished = (await lastLineEnd(file, { from: Math.max(from, to - 1), to })) < to;
  return { to, records: passed + (unfinished ? 1 : 0) };
}

/** Line starts nearest after equal shares of the span, each about `pieceBytes`: inner boundaries, ascending. */
export async function splitLines(file: ReadableInput, { from, to }: Span, pieceBytes: number): Promise<number[]> {
  const pieces = Math.max(1, Math.round((to - from) / pieceBytes));
  const boundaries: number[] = [];
  let last = from;
  for (let piece = 1; piece < pieces; piece += 1) {
    const target = from + Math.floor(((to - from) * piece) / pieces);
    if (target <= last) continue;
    const { position } = await passLines(file, { from: target - 1, to }, 1);
    if (position >= to) break;
    boundaries.push(position);
    last = position;
  }
  return boundaries;
}

/** Numbers of lines at ascending offsets, from 1, counted as far as needed. */
export class LineCounter {
  readonly #file: ReadableInput;
  #offset = 0;
  #line = 1;

  constructor(file: ReadableInput) {
    this.#file = file;
  }

  /** @param offset a position in the line, not below that of the call before */
  async lineAt(offset: number): Promise<number> {
    const { passed } = await passLines(this.#file, { from: this.#offset, to: offset }, Number.POSITIVE_INFINITY);
    this.#offset = offset;
    this.#line += passed;
    return this.#line;
  }
}
