import { constants, crc32, zstdCompressSync } from "node:zlib";
import { UserCodeError } from "../errors.ts";
import { ByteWriter } from "./bytes.ts";

/*
 * An object that holds bytes for each of some key groups, of which a reader fetches only those that it wants:
 *
 *     magic            4 bytes
 *     format           uint32: 1
 *     header size      uint32
 *     header           varint note, a number that means something to the reader; varint number of blocks; then of each block: byte 1
 *                      if it is compressed, varint stored size, uint32 CRC-32 of what is stored, varint number of groups; then of
 *                      each group: varint key group, varint raw size
 *     header CRC-32    uint32, over everything before it
 *     blocks           one after the other: the raw bytes of their groups, compressed by zstd
 *
 * Groups ascend. Neighbours share a block until it is large enough to be worth a call of zstd.
 */

export const format = 1;
export const prefixBytes = 12;
const blockBytes = 256 * 1024;
/** Smaller blocks are stored as they are. */
const compressFromBytes = 128;
/** A block that says it is larger is not read, since nothing larger is written: one group's state in one snapshot. */
export const largestBlockBytes = 1024 * 1024 * 1024;

export interface Block {
  readonly compressed: boolean;
  readonly storedSize: number;
  readonly checksum: number;
  readonly groups: { readonly group: number; readonly rawSize: number }[];
}

/** Writes such an object. Per group: `begin`, then write to `writer`; at last `finish`. */
export class GroupedObjectWriter {
  readonly writer = new ByteWriter(4096);
  readonly #magic: string;
  readonly #note: number;
  readonly #blocks: Block[] = [];
  readonly #stored: Uint8Array[] = [];
  #groups: Block["groups"] = [];
  #group = -1;
  #start = 0;

  /** @param magic four ASCII characters: what the object is */
  constructor(magic: string, note = 0) {
    this.#magic = magic;
    this.#note = note;
  }

  /** What is written from here on belongs to this group, which is larger than the one before. */
  begin(group: number): void {
    this.#endGroup();
    if (this.writer.length >= blockBytes) this.#endBlock();
    this.#group = group;
    this.#start = this.writer.length;
  }

  /** Whether it has no group. */
  get isEmpty(): boolean {
    return this.#group < 0 && this.#groups.length === 0 && this.#blocks.length === 0;
  }

  /** All of the object, in pieces. */
  finish(): Uint8Array[] {
    this.#endGroup();
    this.#endBlock();
    return [this.#header(), ...this.#stored];
  }

  #endGroup(): void {
    if (this.#group < 0) return;
    this.#groups.push({ group: this.#group, rawSize: this.writer.length - this.#start });
    this.#group = -1;
  }

  #endBlock(): void {
    if (this.#groups.length === 0) return;
    const raw = this.writer.view();
    if (raw.length > largestBlockBytes) {
      throw new UserCodeError("state-too-large", "One key group has more than 1 GiB of state", {
        wayOut: "Use smaller accumulators or windows, or a new pipeline with more key groups.",
      });
    }
    const packed = raw.length < compressFromBytes ? raw : zstdCompressSync(raw, compression);
    const compressed = packed.length < raw.length;
    const stored = compressed ? packed : Uint8Array.from(raw);
    this.#blocks.push({ compressed, storedSize: stored.length, checksum: crc32(stored), groups: this.#groups });
    this.#stored.push(stored);
    this.#groups = [];
    this.writer.length = 0;
  }

  #header(): Uint8Array {
    const header = new ByteWriter();
    header.utf8(this.#magic);
    header.uint32(format);
    header.uint32(0);
    header.varint(this.#note);
    header.varint(this.#blocks.length);
    for (const { compressed, storedSize, checksum, groups } of this.#blocks) {
      header.byte(compressed ? 1 : 0);
      header.varint(storedSize);
      header.uint32(checksum);
      header.varint(groups.length);
      for (const { group, rawSize } of groups) {
        header.varint(group);
        header.varint(rawSize);
      }
    }
    header.bytes.writeUInt32LE(header.length - prefixBytes, prefixBytes - 4);
    header.uint32(crc32(header.view()));
    return header.view();
  }
}

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
