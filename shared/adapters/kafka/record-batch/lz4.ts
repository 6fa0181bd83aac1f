import { blockBound, compressBlock, decompressBlock } from "./lz4-block.ts";

/**
 * LZ4's frame format (github.com/lz4/lz4, doc/lz4_Frame_format.md), as Kafka uses it: independent blocks, which are all that its Java client takes.
 * Check sums within a frame are passed over: the record batch around it has one.
 */

const magic = 0x184d2204;
/** Version 1, independent blocks, no check sums, 64 KiB a block; the last byte is the check sum of the two before. */
const descriptor = Buffer.from([0x60, 0x40, 0x82]);
const blockBytes = 64 * 1024;
const stored = 0x8000_0000;

const hasBlockChecksums = 1 << 4;
const hasContentSize = 1 << 3;
const hasDictionary = 1;

export function compressFrame(source: Uint8Array): Buffer {
  const blocks = Math.ceil(source.length / blockBytes);
  const target = Buffer.allocUnsafe(11 + blocks * (4 + blockBound(Math.min(blockBytes, source.length))));
  let at = target.writeUInt32LE(magic, 0);
  at += descriptor.copy(target, at);
  for (let from = 0; from < source.length; from += blockBytes) {
    const to = Math.min(from + blockBytes, source.length);
    const end = compressBlock(source, from, to, target, at + 4);
    if (end - at - 4 < to - from) {
      target.writeUInt32LE(end - at - 4, at);
      at = end;
    } else {
      target.writeUInt32LE((stored | (to - from)) >>> 0, at);
      target.set(source.subarray(from, to), at + 4);
      at += 4 + to - from;
    }
  }
  return target.subarray(0, target.writeUInt32LE(0, at));
}

interface Block {
  readonly from: number;
  readonly to: number;
  readonly stored: boolean;
}

/** @throws RangeError if the frame is malformed, or may be longer than `limit` bytes, which is found before anything is inflated. */
export function decompressFrame(source: Buffer, limit: number, tooLong: () => Error): Buffer {
  const { blocks, bound } = readFrame(source);
  if (bound > limit) throw tooLong();
  const target = Buffer.allocUnsafe(bound);
  let at = 0;
  for (const block of blocks) {
    if (block.stored) at += source.copy(target, at, block.from, block.to);
    else at = decompressBlock(source, block.from, block.to, target, at);
  }
  return target.subarray(0, at);
}

/** The blocks of a frame, and the most bytes that they can inflate to. */
function readFrame(source: Buffer): { blocks: Block[]; bound: number } {
  if (source.length < 7 || source.readUInt32LE(0) !== magic) throw new RangeError("no LZ4 frame");
  const flags = source[4]!;
  const maxBlockBytes = 1 << (8 + 2 * ((source[5]! >> 4) & 7));
  if (flags >> 6 !== 1 || flags & hasDictionary || maxBlockBytes < blockBytes)
    throw new RangeError("an LZ4 frame of an unknown kind");
  const blocks: Block[] = [];
  let bound = 0;
  for (let at = 7 + (flags & hasContentSize ? 8 : 0); ; ) {
    const word = source.readUInt32LE(at);
    if (word === 0) return { blocks, bound };
    const from = at + 4;
    const to = from + (word % stored);
    if (to > source.length) throw new RangeError("an LZ4 block is cut short");
    blocks.push({ from, to, stored: word >= stored });
    bound += word >= stored ? to - from : Math.min(maxBlockBytes, 255 * (to - from));
    at = to + (flags & hasBlockChecksums ? 4 : 0);
  }
}
