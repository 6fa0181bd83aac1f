import { crc32, zstdDecompressSync } from "node:zlib";
import { ByteReader, MalformedError } from "./bytes.ts";
import { type Block, format, largestBlockBytes, prefixBytes } from "./grouped-object.ts";

/** The first read of an object: the whole of a small one, the header of any. */
const firstReadBytes = 64 * 1024;
/** Reading so much that is not wanted costs less than another read. */
const smallGapBytes = 64 * 1024;

/** An object whose header has been read. */
export interface GroupedObject {
  readonly note: number;
  /** Sizes of its key groups before compression, ascending. */
  readonly sizes: ReadonlyMap<number, number>;
  /** The bytes of each of the wanted key groups that is there, ascending. @throws MalformedError */
  read(isWanted: (group: number) => boolean): Promise<ReadonlyMap<number, ByteReader>>;
}

/** Reads bytes `[start, end)` of an object; undefined if there is no such object. */
export type GetRange = (range: { start: number; end: number }) => Promise<Uint8Array | undefined>;

/**
 * Opens an object; undefined if there is none. One read, which has all of a small object; two if the header is very large. Blocks that
 * are wanted are then one read where they are neighbours. Sizes and checksums are checked before anything is decompressed.
 *
 * @throws MalformedError
 */
export async function openGroups(get: GetRange, magic: string): Promise<GroupedObject | undefined> {
  const first = await get({ start: 0, end: firstReadBytes });
  if (first === undefined) return undefined;
  const prefix = new ByteReader(asBuffer(first));
  if (prefix.bytes.toString("latin1", prefix.skip(4), 4) !== magic) throw new MalformedError("it is something else");
  const version = prefix.uint32();
  if (version !== format) throw new MalformedError(`its format is ${version}, and this version reads ${format}`);
  const headerEnd = prefixBytes + prefix.uint32() + 4;
  const { note, blocks } = parseHeader(await rangeOf(get, first, 0, headerEnd));
  const sizes = new Map(blocks.flatMap((block) => block.groups.map(({ group, rawSize }) => [group, rawSize] as const)));
  return { note, sizes, read: (isWanted) => readBlocks(get, first, headerEnd, blocks, isWanted) };
}

/** Blocks with groups that are wanted, one behind the other but for small gaps. */
interface Run {
  readonly start: number;
  end: number;
  readonly blocks: { readonly block: Block; readonly start: number }[];
}

async function readBlocks(
  get: GetRange,
  first: Uint8Array,
  headerEnd: number,
  blocks: readonly Block[],
  isWanted: (group: number) => boolean,
): Promise<ReadonlyMap<number, ByteReader>> {
  const groups = new Map<number, ByteReader>();
  for (const run of runsOf(blocks, headerEnd, isWanted)) {
    const stored = await rangeOf(get, first, run.start, run.end);
    for (const { block, start } of run.blocks) {
      const at = start - run.start;
      const raw = unpack(block, stored.subarray(at, at + block.storedSize));
      let begin = 0;
      for (const { group, rawSize } of block.groups) {
        if (isWanted(group)) groups.set(group, new ByteReader(raw, begin, begin + rawSize));
        begin += rawSize;
      }
    }
  }
  return groups;
}

function runsOf(blocks: readonly Block[], headerEnd: number, isWanted: (group: number) => boolean): Run[] {
  const runs: Run[] = [];
  let start = headerEnd;
  for (const block of blocks) {
    const end = start + block.storedSize;
    if (block.groups.some(({ group }) => isWanted(group))) {
      let run = runs.at(-1);
      if (run === undefined || start - run.end > smallGapBytes) {
        run = { start, end, blocks: [] };
        runs.push(run);
      }
      run.end = end;
      run.blocks.push({ block, start });
    }
    start = end;
  }
  return runs;
}

function parseHeader(bytes: Buffer): { note: number; blocks: Block[] } {
  const contentEnd = bytes.length - 4;
  if (crc32(bytes.subarray(0, contentEnd)) !== bytes.readUInt32LE(contentEnd)) {
    throw new MalformedError("the checksum of its header is wrong");
  }
  const reader = new ByteReader(bytes, prefixBytes, contentEnd);
  const note = reader.varint();
  const blocks: Block[] = [];
  for (let left = reader.count(); left > 0; left--) {
    const compressed = reader.byte() === 1;
    const storedSize = reader.varint();
    const checksum = reader.uint32();
    const groups: Block["groups"] = [];
    for (let more = reader.count(2); more > 0; more--)
      groups.push({ group: reader.varint(), rawSize: reader.varint() });
    blocks.push({ compressed, storedSize, checksum, groups });
  }
  return { note, blocks };
}

function unpack(block: Block, stored: Buffer): Buffer {
  if (crc32(stored) !== block.checksum) throw new MalformedError("the checksum of a block is wrong");
  const rawSize = block.groups.reduce((sum, group) => sum + group.rawSize, 0);
  if (rawSize > largestBlockBytes) throw new MalformedError("a block is too large");
  const raw = block.compressed ? decompress(stored, rawSize) : stored;
  if (raw.length !== rawSize) throw new MalformedError("the size of a block is wrong");
  return raw;
}

function decompress(stored: Buffer, rawSize: number): Buffer {
  try {
    return zstdDecompressSync(stored, { maxOutputLength: rawSize });
  } catch (error) {
    throw new MalformedError("a block does not decompress", { cause: error });
  }
}

/** Bytes `[start, end)`, of what was read first if they are in it. */
async function rangeOf(get: GetRange, first: Uint8Array, start: number, end: number): Promise<Buffer> {
  const bytes = end <= first.length ? first.subarray(start, end) : await get({ start, end });
  if (bytes === undefined || bytes.length !== end - start) throw new MalformedError("it ends too early");
  return asBuffer(bytes);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
