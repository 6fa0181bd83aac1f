import * as snappyjs from "snappyjs";

/**
 * Snappy as Kafka's clients use it: the Java client frames blocks as the xerial library does (`SnappyOutputStream`), others write one bare block.
 * Every reader takes both.
 */

/** Its magic, and two versions. */
const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
const magicBytes = 8;

export function compress(bytes: Uint8Array): Buffer {
  const block = snappyjs.compress(bytes);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(block.length);
  return Buffer.concat([header, length, block]);
}

export function decompress(bytes: Buffer, limit: number, tooLong: () => Error): Buffer {
  const blocks = isFramed(bytes) ? framed(bytes) : [bytes];
  const length = blocks.reduce((sum, block) => sum + inflatedLength(block), 0);
  if (length > limit) throw tooLong();
  const inflated = blocks.map((block) => snappyjs.uncompress(block));
  return inflated.length === 1 ? inflated[0]! : Buffer.concat(inflated);
}

const isFramed = (bytes: Buffer) => bytes.subarray(0, magicBytes).equals(header.subarray(0, magicBytes));

function framed(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = header.length; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError("a Snappy block is cut short");
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** A block begins with it, as a varint. */
function inflatedLength(block: Buffer): number {
  let length = 0;
  for (let at = 0; at < 5; at += 1) {
    length += (block[at]! & 127) * 128 ** at;
    if (block[at]! < 128) return length;
  }
  throw new RangeError("a malformed Snappy block");
}
