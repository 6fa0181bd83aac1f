import type { TextColumn } from "../../shared/ports/columns.ts";

/** Well-formed texts as a column of them. */
export function textColumn(texts: readonly string[]): TextColumn {
  const ends = new Int32Array(texts.length + 1);
  for (const [index, one] of texts.entries()) ends[index + 1] = ends[index]! + Buffer.byteLength(one);
  return { bytes: Buffer.from(texts.join("")), ends };
}
