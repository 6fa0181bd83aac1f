import type { ManifestFile } from "./manifest.ts";

/** Bytes `[start, end)`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A files sink's output, by paths in it, as those see it who read it. */
export interface OutputStore {
  /** For people. */
  urlOf(path: string): string;
  /** Paths of all manifests. @throws UsageError `not-an-output` */
  manifests(): Promise<string[]>;
  /** Bytes of a file; undefined: it is not there. */
  read(path: string, range?: ByteRange): Promise<AsyncIterable<Buffer> | undefined>;
  /** Rows, as they are in their file. Not later than at their end a LossError says that they are not what the manifest says. */
  readRows(file: ManifestFile): Promise<AsyncIterable<Buffer> | "missing" | "damaged">;
}

/** The same, for those who write manifests, and put files in order. */
export interface WritableStore extends OutputStore {
  /** When a file was made, epoch milliseconds; undefined: it is not there. */
  modifiedAt(path: string): Promise<number | undefined>;
  /** Creates a file whole and durably, unless it exists: no reader and no crash ever sees a part of it. */
  create(path: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<"created" | "exists">;
  /** Those that are not there are fine. */
  remove(paths: readonly string[]): Promise<void>;
}
