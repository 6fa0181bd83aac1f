import { type ByteReader, ByteWriter, MalformedError } from "./bytes.ts";

/** A value that is no data, so that state cannot hold it. The message continues "it is …". */
export class NotDataError extends Error {
  /** Which column of accumulators it was found in. */
  readonly column: number;

  constructor(message: string, column = 0) {
    super(message);
    this.column = column;
  }
}

const maximumDepth = 500;

/** One byte before each value. Part of the snapshot format: numbers are never used again for something else. */
const tag = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  natural: 4,
  float: 5,
  bigint: 6,
  utf8: 7,
  utf16: 8,
  date: 9,
  bytes: 10,
  array: 11,
  hole: 12,
  map: 13,
  set: 14,
  object: 15,
  bareObject: 16,
} as const;

/**
 * Writes data: undefined, null, booleans, numbers, bigints, strings, `Date`, `Uint8Array`, arrays (holes included), `Map`, `Set` and plain
 * objects, nested. Order is kept, identity is not: something that is referred to twice becomes two.
 *
 * @throws NotDataError for anything else: functions, symbols, instances of classes, cycles
 */
export function encodeData(writer: ByteWriter, value: unknown, depth = 0): void {
  switch (typeof value) {
    case "undefined":
      writer.byte(tag.undefined);
      return;
    case "boolean":
      writer.byte(value ? tag.true : tag.false);
      return;
    case "number":
      encodeNumber(writer, value);
      return;
    case "bigint":
      writer.byte(tag.bigint);
      writer.text(value.toString());
      return;
    case "string":
      encodeString(writer, value);
      return;
    case "object":
      if (value === null) {
        writer.byte(tag.null);
        return;
      }
      if (depth === maximumDepth) throw new NotDataError(`nested more than ${maximumDepth} deep, or in a cycle`);
      encodeObject(writer, value, depth + 1);
      return;
    default:
      throw new NotDataError(`a ${typeof value}`);
  }
}

function encodeNumber(writer: ByteWriter, value: number): void {
  if (Number.isSafeInteger(value) && (value > 0 || Object.is(value, 0))) {
    writer.byte(tag.natural);
    writer.varint(value);
  } else {
    writer.byte(tag.float);
    writer.float64(value);
  }
}

function encodeString(writer: ByteWriter, value: string): void {
  if (value.isWellFormed()) {
    writer.byte(tag.utf8);
    writer.text(value);
    return;
  }
  const units = Buffer.from(value, "utf16le");
  writer.byte(tag.utf16);
  writer.varint(units.length);
  writer.raw(units);
}

function encodeObject(writer: ByteWriter, value: object, depth: number): void {
  switch (Object.getPrototypeOf(value)) {
    case Array.prototype:
      encodeArray(writer, value as unknown[], depth);
      return;
    case Object.prototype:
      encodeProperties(writer, tag.object, value, depth);
      return;
    case null:
      encodeProperties(writer, tag.bareObject, value, depth);
      return;
    case Map.prototype:
      writer.byte(tag.map);
      writer.varint((value as Map<unknown, unknown>).size);
      for (const [key, item] of value as Map<unknown, unknown>) {
        encodeData(writer, key, depth);
        encodeData(writer, item, depth);
      }
      return;
    case Set.prototype:
      writer.byte(tag.set);
      writer.varint((value as Set<unknown>).size);
      for (const item of value as Set<unknown>) encodeData(writer, item, depth);
      return;
    case Date.prototype:
      writer.byte(tag.date);
      writer.float64((value as Date).getTime());
      return;
    case Uint8Array.prototype:
      writer.byte(tag.bytes);
      writer.varint((value as Uint8Array).length);
      writer.raw(value as Uint8Array);
      return;
    default:
      throw new NotDataError(`an instance of ${value.constructor?.name || "a class"}`);
  }
}

function encodeArray(writer: ByteWriter, items: unknown[], depth: number): void {
  writer.byte(tag.array);
  writer.varint(items.length);
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined && !(index in items)) writer.byte(tag.hole);
    else encodeData(writer, item, depth);
  }
}

function encodeProperties(writer: ByteWriter, kind: number, value: object, depth: number): void {
  const names = Object.keys(value);
  writer.byte(kind);
  writer.varint(names.length);
  for (const name of names) {
    encodeString(writer, name);
    encodeData(writer, (value as Record<string, unknown>)[name], depth);
  }
}

/** @throws MalformedError if the bytes are not what `encodeData` writes */
export function decodeData(reader: ByteReader, depth = 0): unknown {
  return decodeTagged(reader, reader.byte(), depth);
}

function decodeTagged(reader: ByteReader, kind: number, depth: number): unknown {
  if (depth > maximumDepth) throw new MalformedError("it is nested too deep");
  switch (kind) {
    case tag.undefined:
      return undefined;
    case tag.null:
      return null;
    case tag.false:
      return false;
    case tag.true:
      return true;
    case tag.natural:
      return reader.varint();
    case tag.float:
      return reader.float64();
    case tag.bigint:
      return decodeBigint(reader.text());
    case tag.utf8:
      return reader.text();
    case tag.utf16: {
      const size = reader.count();
      const start = reader.skip(size);
      return reader.bytes.toString("utf16le", start, start + size);
    }
    case tag.date:
      return new Date(reader.float64());
    case tag.bytes: {
      const size = reader.count();
      const start = reader.skip(size);
      return Uint8Array.from(reader.bytes.subarray(start, start + size));
    }
    case tag.array:
      return decodeArray(reader, depth + 1);
    case tag.map: {
      const map = new Map<unknown, unknown>();
      for (let left = reader.count(2); left > 0; left--)
        map.set(decodeData(reader, depth + 1), decodeData(reader, depth + 1));
      return map;
    }
    case tag.set: {
      const set = new Set<unknown>();
      for (let left = reader.count(); left > 0; left--) set.add(decodeData(reader, depth + 1));
      return set;
    }
    case tag.object:
      return decodeProperties(reader, {}, depth + 1);
    case tag.bareObject:
      return decodeProperties(reader, Object.create(null) as object, depth + 1);
    default:
      throw new MalformedError(`there is no kind of data ${kind}`);
  }
}

function decodeBigint(text: string): bigint {
  if (!/^-?\d+$/.test(text)) throw new MalformedError("a bigint is none");
  return BigInt(text);
}

function decodeArray(reader: ByteReader, depth: number): unknown[] {
  const items: unknown[] = [];
  const length = reader.count();
  for (let index = 0; index < length; index++) {
    const kind = reader.byte();
    if (kind === tag.hole) items.length = index + 1;
    else items.push(decodeTagged(reader, kind, depth));
  }
  return items;
}

function decodeProperties(reader: ByteReader, target: object, depth: number): object {
  for (let left = reader.count(2); left > 0; left--) {
    const name = decodeData(reader, depth);
    if (typeof name !== "string") throw new MalformedError("a property has no name");
    const value = decodeData(reader, depth);
    // Assigning to `__proto__` would change the object's prototype instead of giving it a property.
    if (name === "__proto__") {
      Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
    } else (target as Record<string, unknown>)[name] = value;
  }
  return target;
}

const scratch = new ByteWriter(1024);

/** The encoded value, in bytes of its own. */
export function dataBytes(value: unknown): Buffer {
  checkData(value);
  return Buffer.from(scratch.view());
}

/** @throws NotDataError as `encodeData` */
export function checkData(value: unknown): void {
  scratch.length = 0;
  encodeData(scratch, value);
}
