const mostByHand = 32;

/** Writes a well-formed text as UTF-8 where there is room for three bytes for each of its units; returns the place after it. */
export function writeUtf8(bytes: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length > mostByHand) return at + bytes.write(text, at);
  // A short text is mostly ASCII, and then written before a call into the engine would have begun.
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return at + bytes.write(text, at);
    bytes[at + index] = unit;
  }
  return at + length;
}

/** Few bytes are copied faster here than by a call that does it. Returns the place after them. */
export function copyBytes(bytes: Uint8Array, at: number, source: Uint8Array, start: number, end: number): number {
  if (end - start > mostByHand) bytes.set(source.subarray(start, end), at);
  else for (let from = start, to = at; from < end; ) bytes[to++] = source[from++]!;
  return at + end - start;
}
