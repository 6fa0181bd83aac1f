import { UsageError } from "../../errors.ts";

/** UTF-8's, which Windows programs put at the beginning of a text, and which is no part of it. */
export const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export function beginsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/**
 * Two bytes a character taken for UTF-8 would give garbage without an error.
 *
 * @throws UsageError `input-encoding`
 */
export function checkText(head: Uint8Array, path: string): void {
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (!isUtf16) return;
  throw new UsageError("input-encoding", `the input ${path} is UTF-16, and lines are UTF-8`, {
    wayOut: `Convert it (\`iconv -f UTF-16 -t UTF-8\`), or have it left out (\`exclude\`).`,
    place: { file: path },
  });
}
