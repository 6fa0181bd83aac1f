/** Records of one batch or several, in one buffer: which bytes they are, and what of them is wanted. */
export interface RecordSpan {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly baseOffset: number;
  readonly baseTimestamp: number;
  /** All records have it (log append time); undefined: each has its own. */
  readonly timestamp: number | undefined;
}

/** A batch whose records are not what the format says. */
export class MalformedError extends Error {}

/** Where the parts of records lie in a buffer: one number a record and column, no object. Grows; is used again for each batch that is handed out. */
export class Columns {
  count = 0;
  #rows = 0;
  offsets = new Float64Array();
  timestamps = new Float64Array();
  keyStart = new Int32Array();
  keyEnd = new Int32Array();
  valueStart = new Int32Array();
  valueEnd = new Int32Array();
  headersStart = new Int32Array();

  /** Forgets all rows, and makes room for so many. */
  reset(rows: number): void {
    this.count = 0;
    if (rows <= this.#rows) return;
    this.#rows = rows;
    this.offsets = new Float64Array(rows);
    this.timestamps = new Float64Array(rows);
    this.keyStart = new Int32Array(rows);
    this.keyEnd = new Int32Array(rows);
    this.valueStart = new Int32Array(rows);
    this.valueEnd = new Int32Array(rows);
    this.headersStart = new Int32Array(rows);
  }

  /** A row without a record. */
  addEmpty(offset: number, timestamp: number): void {
    const row = this.count++;
    this.offsets[row] = offset;
    this.timestamps[row] = timestamp;
    this.keyStart[row] = -1;
    this.keyEnd[row] = -1;
    this.valueStart[row] = 0;
    this.valueEnd[row] = 0;
    this.headersStart[row] = -1;
  }

  /**
   * Adds the records with offsets in `[from, to)`. The hot loop of every read: varints are read in place, since a call for each costs as much as the rest.
   *
   * @throws MalformedError
   */
  add(bytes: Uint8Array, span: RecordSpan, from: number, to: number): void {
    const { offsets, timestamps, keyStart, keyEnd, valueStart, valueEnd, headersStart } = this;
    const { end, baseOffset, baseTimestamp, timestamp } = span;
    let row = this.count;
    let at = span.start;
    let last = -1;
    for (let left = span.count; left > 0; left -= 1) {
      let byte = bytes[at++]!;
      let length = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++]!;
        length |= (byte & 127) << shift;
      }
      const stop = at + (length >>> 1);
      if (stop > end) throw new MalformedError("a record is longer than its batch");

      at += 1; // attributes, none of which is in use
      byte = bytes[at++]!;
      let bits = byte & 127;
      for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
        byte = bytes[at++]!;
        bits |= (byte & 127) << shift;
      }
      let time = (bits >>> 1) ^ -(bits & 1);
      if (byte > 127) {
        // Beyond 28 bits: in floating point.
        let wide = bits;
        for (let unit = 2 ** 28; byte > 127; unit *= 128) {
          byte = bytes[at++]!;
          wide += (byte & 127) * unit;
        }
        time = wide % 2 === 0 ? wide / 2 : -(wide + 1) / 2;
      }

      byte = bytes[at++]!;
      let delta = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++]!;
        delta |= (byte & 127) << shift;
      }
      delta >>>= 1;
      if (delta <= last) throw new MalformedError("the offsets of its records do not ascend");
      last = delta;
      const offset = baseOffset + delta;
      if (offset < from) {
        at = stop;
        continue;
      }
      if (offset >= to) {
        this.count = row;
        return;
      }

      byte = bytes[at++]!;
      length = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++]!;
        length |= (byte & 127) << shift;
      }
      if (length & 1) {
        keyStart[row] = -1;
        keyEnd[row] = -1;
      } else {
        keyStart[row] = at;
        at += length >>> 1;
        keyEnd[row] = at;
      }

      byte = bytes[at++]!;
      length = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++]!;
        length |= (byte & 127) << shift;
      }
      if (length & 1) {
        valueStart[row] = -1;
        valueEnd[row] = -1;
      } else {
        valueStart[row] = at;
        at += length >>> 1;
        valueEnd[row] = at;
      }
      if (!(at <= stop)) throw new MalformedError("a key or value is longer than its record");

      headersStart[row] = at;
      timestamps[row] = timestamp ?? baseTimestamp + time;
      offsets[row] = offset;
      row += 1;
      at = stop;
    }
    this.count = row;
    if (at !== end) throw new MalformedError("it has more bytes than records");
  }
}
