/** Bytes that are not what the format says: truncated, flipped, or of something else. Whoever knows their name makes it a `LossError`. */
export class MalformedError extends Error {}

/** The same bytes, to be read as numbers. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Appends values to a buffer that grows. Numbers are little-endian; a varint is 7 bits a byte, low ones first. */
export class ByteWriter {
  bytes: Buffer;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Makes room for that many more bytes. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeUInt32LE(value, this.length);
  }

  /** A non-negative safe integer. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  /** `varint` of each. */
  varints(values: Int32Array): void {
    this.reserve(values.length * 5);
    const { bytes } = this;
    let at = this.length;
    for (let index = 0; index < values.length; index++) {
      let rest = values[index]!;
      for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
      bytes[at++] = rest;
    }
    this.length = at;
  }

  /** All NaNs are written alike, since which bits a NaN has is left to the engine. */
  float64(value: number): void {
    this.reserve(8);
    if (Number.isNaN(value)) this.bytes.set(canonicalNaN, this.length);
    else this.bytes.writeDoubleLE(value, this.length);
    this.length += 8;
  }

  /** `float64` of the values with the numbers `order[from, to)`. */
  float64s(values: Float64Array, order: Int32Array, from: number, to: number): void {
    this.reserve((to - from) * 8);
    const { buffer, byteOffset } = this.bytes;
    const view = new DataView(buffer, byteOffset + this.length);
    for (let index = from, at = 0; index < to; index++, at += 8) {
      const value = values[order[index]!]!;
      view.setFloat64(at, value, true);
      if (Number.isNaN(value)) this.bytes.set(canonicalNaN, this.length + at);
    }
    this.length += (to - from) * 8;
  }

  raw(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.reserve(end - start);
    // A short copy is cheaper by hand than through a view and a call into the engine.
    if (end - start > 32) this.bytes.set(bytes.subarray(start, end), this.length);
    else for (let from = start, to = this.length; from < end; ) this.bytes[to++] = bytes[from++]!;
    this.length += end - start;
  }

  /** Well-formed text as UTF-8, without its length. */
  utf8(text: string): void {
    this.reserve(text.length * 3);
    const { bytes } = this;
    let at = this.length;
    if (text.length <= 32) {
      let index = 0;
      for (; index < text.length; index++) {
        const unit = text.charCodeAt(index);
        if (unit > 0x7f) break;
        bytes[at++] = unit;
      }
      if (index === text.length) {
        this.length = at;
        return;
      }
    }
    this.length += bytes.write(text, this.length, "utf8");
  }

  /** Text with its length in bytes before it. */
  text(text: string): void {
    const size = Buffer.byteLength(text);
    this.varint(size);
    this.utf8(text);
  }

  /** What was written, as a view. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

const canonicalNaN = Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0x7f);

/** Reads what `ByteWriter` wrote. Throws `MalformedError` instead of reading past the end. */
export class ByteReader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  /** The position of the next `count` bytes, which are then behind. */
  skip(count: number): number {
    if (count > this.end - this.at) throw new MalformedError("it ends too early");
    const start = this.at;
    this.at += count;
    return start;
  }

  byte(): number {
    return this.bytes[this.skip(1)]!;
  }

  uint32(): number {
    return this.bytes.readUInt32LE(this.skip(4));
  }

  varint(): number {
    let value = 0;
    for (let unit = 1; unit <= 2 ** 49; unit *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw new MalformedError("a number is too large");
  }

  /** How many things follow, of at least `size` bytes each: more than are left is refused before anything is allocated. */
  count(size = 1): number {
    const count = this.varint();
    if (count * size > this.left) throw new MalformedError("a count is larger than what follows");
    return count;
  }

  /** Where each of so many things ends, whose sizes `varints` wrote: more than what follows them is refused. */
  ends(count: number): Int32Array {
    const { bytes, end } = this;
    const ends = new Int32Array(count + 1);
    let at = this.at;
    let total = 0;
    for (let index = 1; index <= count; index++) {
      let byte = 0x80;
      for (let unit = 1; byte >= 0x80; unit *= 0x80) {
        if (at === end || unit > 2 ** 28) throw new MalformedError("a size is none");
        byte = bytes[at++]!;
        total += (byte & 0x7f) * unit;
      }
      if (total > end - at) throw new MalformedError("a count is larger than what follows");
      ends[index] = total;
    }
    this.at = at;
    return ends;
  }

  float64(): number {
    return this.bytes.readDoubleLE(this.skip(8));
  }

  text(): string {
    const size = this.count();
    const start = this.skip(size);
    return this.bytes.toString("utf8", start, start + size);
  }
}
