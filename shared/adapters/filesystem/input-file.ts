import type { BigIntStats } from "node:fs";
import type { FileHandle, open, readdir, stat } from "node:fs/promises";
import { EpochflowError, InfrastructureError } from "../../errors.ts";
import { shrank } from "../lines/input-errors.ts";
import { errno } from "./durable.ts";

/** What the source uses of `node:fs/promises`: a test can put failures in. */
export interface ReadableFileSystem {
  readonly open: typeof open;
  readonly stat: typeof stat;
  readonly readdir: typeof readdir;
}

/** The error for an input that the system does not let us read: it may work again later. */
export function unreadable(path: string, error: unknown): EpochflowError {
  if (error instanceof EpochflowError) return error;
  const code = errno(error) ?? "unexpected";
  return new InfrastructureError("input-unreadable", `cannot read ${path}: ${code}`, {
    wayOut: code === "EACCES" ? "Give this process the right to read it." : "See that its disk can be reached.",
    place: { file: path },
    cause: error,
  });
}

/** An input file that is open for reading at positions. All errors name the file. */
export class InputFile {
  readonly path: string;
  readonly size: number;
  /**
   * Tells files apart while they exist: the inode and when it was made, since numbers are used again. Without the device, whose number changes when it
   * is mounted again.
   */
  readonly inode: string;
  /** Changes with its bytes, and with its name; epoch milliseconds. */
  readonly changedAt: number;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, stats: BigIntStats) {
    this.path = path;
    this.size = Number(stats.size);
    this.inode = inodeOf(stats);
    this.changedAt = Number(stats.ctimeMs);
    this.#handle = handle;
  }

  /** Undefined if there is no file of that name. */
  static async open(system: ReadableFileSystem, path: string): Promise<InputFile | undefined> {
    let handle: FileHandle | undefined;
    try {
      handle = await system.open(path, "r");
      return new InputFile(path, handle, await handle.stat({ bigint: true }));
    } catch (error) {
      await handle?.close();
      if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
      throw unreadable(path, error);
    }
  }

  /** Reads bytes from `position` into the start of the buffer, `length` of them unless the file ends before. Returns how many. */
  async read(buffer: Buffer, length: number, position: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.#readOnce(buffer, done, length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  /** Like `read`, for bytes that must be there. */
  async readAll(buffer: Buffer, length: number, position: number): Promise<void> {
    const read = await this.read(buffer, length, position);
    if (read < length) throw shrank(this.path, position + read, position + length);
  }

  /** So many bytes before a position, or all that there are. */
  async bytesBefore(position: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(Math.min(bytes, position));
    await this.readAll(buffer, buffer.length, position - buffer.length);
    return buffer;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #readOnce(buffer: Buffer, offset: number, length: number, position: number) {
    try {
      return await this.#handle.read(buffer, offset, length, position);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}

export function inodeOf({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino}.${birthtimeNs}`;
}
