import { createHash } from "node:crypto";
import { LossError } from "../../errors.ts";
import { type Compression, decompress, IncompleteInput, type RawInput } from "./decompress.ts";

/** So many bytes before a position tell what lay there. */
export const tailBytes = 1024;

/** A beginning is read often, and little of it. */
const headBlockBytes = 4096;

export interface Measured {
  /** Decompressed bytes. */
  readonly size: number;
  /** Fingerprint of the last bytes. */
  readonly tail: string;
  readonly endsInLine: boolean;
}

/**
 * Decompresses all of an input once, for its size, which no header tells reliably, and for its checksums: what is not whole gives no record at all.
 *
 * @throws LossError `input-damaged`
 */
export async function measure(raw: RawInput, format: Compression): Promise<Measured | "incomplete"> {
  let size = 0;
  let last: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of decompress(raw, format)) {
      size += chunk.length;
      last = chunk.length >= tailBytes ? chunk : Buffer.concat([last, chunk]);
      last = last.subarray(-tailBytes);
    }
  } catch (error) {
    if (error instanceof IncompleteInput) return "incomplete";
    throw error;
  }
  return { size, tail: tailPrint(last), endsInLine: size > 0 && last.at(-1) !== 10 };
}

/** The first decompressed bytes, at most so many; fewer if the input ends before, or is damaged. */
export async function decompressedHead(raw: RawInput, format: Compression, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of decompress(raw, format, headBlockBytes)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes) break;
    }
  } catch (error) {
    // Whoever measures it says so.
    if (!(error instanceof IncompleteInput || error instanceof LossError)) throw error;
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}

export function tailPrint(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
}
