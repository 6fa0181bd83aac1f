import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

/** SHA-256 of bytes of a file, in hexadecimal; undefined if it has not so many. `buffer` is worked with. */
export async function digestOf(
  handle: FileHandle,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
  buffer: Buffer,
): Promise<string | undefined> {
  const hash = createHash("sha256");
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, bytes - done), offset + done);
    if (bytesRead === 0) return undefined;
    hash.update(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
  return hash.digest("hex");
}
