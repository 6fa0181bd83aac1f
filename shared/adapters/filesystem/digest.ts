import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

/** SHA-256 of a file, in hexadecimal; undefined if it is not so many bytes long. `buffer` is worked with. */
export async function digestOf(handle: FileHandle, bytes: number, buffer: Buffer): Promise<string | undefined> {
  if ((await handle.stat()).size !== bytes) return undefined;
  const hash = createHash("sha256");
  for (let position = 0; position < bytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return undefined;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return hash.digest("hex");
}
