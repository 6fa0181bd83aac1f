import { copyBytes } from "../utf8.ts";
import { mostNumberBytes, writeNumber } from "./number.ts";
import { mostTextBytes, writeText } from "./text.ts";

/** Writes a row's JSON where there is room up to `limit`. Returns the place after it, or -1: it does not fit, or has something that others must write. */
export interface RowWriter {
  write(bytes: Buffer, at: number, limit: number): number;
}

/** One that knows beforehand how long the row will be. */
export interface MeasuredRowWriter extends RowWriter {
  /** Bytes of the row's JSON; -1: others must write it. */
  measure(): number;
  /** Writes the row that was just measured, where there is room for it. Returns the place after it. */
  put(bytes: Buffer, at: number): number;
}

const [yes, no, nothing] = [Buffer.from("true"), Buffer.from("false"), Buffer.from("null")];

/** A field's name as it stands before its value, after another one: `,"name":`. */
export const prefixOf = (name: string): Buffer => Buffer.from(`,${JSON.stringify(name)}:`);

/** Of the first field the comma is the object's brace. Returns the place after the object. */
export function closeObject(bytes: Buffer, at: number, end: number): number {
  bytes[at] = 0x7b;
  const close = end === at ? at + 1 : end;
  bytes[close] = 0x7d;
  return close + 1;
}

/** Bytes of an object beside its fields. */
export const objectBytes = 2;

/** Writes null, a boolean or a number; returns the place after it, or -1 for anything else. */
function writePrimitive(bytes: Buffer, at: number, value: unknown): number {
  if (typeof value === "number") return writeNumber(bytes, at, value);
  if (value === null) return copyBytes(bytes, at, nothing, 0, 4);
  if (value === true) return copyBytes(bytes, at, yes, 0, 4);
  if (value === false) return copyBytes(bytes, at, no, 0, 5);
  return -1;
}

/**
 * Writes a field after others, unless it is one that `JSON.stringify` leaves out. Returns the place after it, or -1: it does not fit in `room`, its name left aside, or
 * others must write it.
 */
export function writeField(bytes: Buffer, at: number, prefix: Buffer, value: unknown, room: number): number {
  if (typeof value === "string") {
    if (room < mostTextBytes(value.length)) return -1;
    return writeText(bytes, copyBytes(bytes, at, prefix, 0, prefix.length), value);
  }
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return at;
  if (room < mostNumberBytes) return -1;
  return writePrimitive(bytes, copyBytes(bytes, at, prefix, 0, prefix.length), value);
}

/**
 * Writes flat objects of texts, numbers, booleans and nulls, byte for byte as `JSON.stringify` gives them, with no text in between. It remembers the names of the
 * last row's fields, since the next one mostly has the same.
 */
export class JsonRow implements RowWriter {
  row: unknown;
  readonly #names: string[] = [];
  readonly #prefixes: Buffer[] = [];

  write(bytes: Buffer, at: number, limit: number): number {
    try {
      return isPlainObject(this.row) ? this.#write(this.row, bytes, at, limit) : -1;
    } catch {
      return -1; // What a getter throws is told by whoever asks it next.
    }
  }

  #write(row: Readonly<Record<string, unknown>>, bytes: Buffer, at: number, limit: number): number {
    let end = at;
    let index = 0;
    for (const name in row) {
      const prefix = this.#names[index] === name ? this.#prefixes[index]! : this.#prefix(index, name);
      index++;
      end = writeField(bytes, end, prefix, row[name], limit - end - prefix.length - objectBytes);
      if (end < 0) return -1;
    }
    return limit - end < objectBytes ? -1 : closeObject(bytes, at, end);
  }

  #prefix(index: number, name: string): Buffer {
    this.#names[index] = name;
    this.#prefixes[index] = prefixOf(name);
    return this.#prefixes[index];
  }
}

/** Nothing but its own fields says what its JSON is. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return (value as { toJSON?: unknown }).toJSON === undefined;
}
