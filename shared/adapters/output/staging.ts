/** Where a task's files are written until they are published: a folder, or uploads. */
export interface Staging<Extra extends object> {
  /** A file takes chunks of about so many bytes. */
  readonly chunkBytes: number;
  /** Bytes that may wait in memory for their chunk to be full, of all files together. */
  readonly mostHeldBytes: number;
  /** Whether a file goes on after a chunk that is not full; else it ends there. */
  readonly takesSmallChunks: boolean;
  /** Bytes that it was given, and that are not written yet. */
  readonly queuedBytes: number;
  /** A new file; nothing is there of it before its first chunk. @param number in this staging, from 0 */
  file(number: number, path: string): StagedFile<Extra>;
  /** Everything that was given is written. */
  written(): Promise<void>;
  /** Deletes all of it. Never throws. */
  discard(): Promise<void>;
}

export interface StagedFile<Extra extends object> {
  /** Takes a chunk, to write it later: a failure is heard by whoever waits next. */
  append(chunk: Buffer): void;
  /** All of it is durable; gives what the commit needs beside name and size. */
  end(): Promise<Extra>;
}
