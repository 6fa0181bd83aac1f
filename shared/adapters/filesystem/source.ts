import { open, readdir, stat } from "node:fs/promises";
import { UsageError } from "../../errors.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import { checkLineOptions, type LineOptions } from "../lines/line-options.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutLines, firstLine, LineCounter, splitLines } from "../lines/lines.ts";
import { Contents, type OpenInput, using } from "./contents.ts";
import { Discovery } from "./discovery.ts";
import { wantedFile } from "./identity.ts";
import type { ReadableFileSystem } from "./input-file.ts";
import { InputFolder } from "./input-folder.ts";
import { Locator } from "./locator.ts";
import { Looks } from "./looks.ts";
import { checkUnedited } from "./unedited.ts";

/** So many people still look at; more would only lengthen the ledger's rows. */
const defaultFinishedPartitions = 100;

export interface FilesSourceOptions extends LineOptions {
  /** A file, or a folder whose files are read at any depth, but for those whose name begins with `.` or `_`. */
  readonly path: string;
  /**
   * The input ends where the files end now: a last line without line end is a record, and what is appended to it later, but for its end, a line of its own.
   * Otherwise such a line waits for its end.
   */
  readonly bounded: boolean;
}

/** What the source has of the machine: a test can put failures in, and set what takes long, or many files, otherwise. */
export interface Machine extends ReadableFileSystem {
  /** Epoch milliseconds; 'Date.now' by default. */
  readonly now?: () => number;
  /** So many files that were read to their end stay partitions, those that changed last; 100 by default. */
  readonly finishedPartitions?: number;
}

/**
 * Lines of text files (protocol §7, Files). Each file is a partition, known by its beginning wherever it goes, also when it is compressed; the offset is the byte position of a
 * line's start, of the decompressed bytes. A line ends with `\n` or `\r\n`, which are no part of the value; an empty line is a record with an empty value.
 *
 * @throws UsageError for a wrong option
 */
export function createFilesSource(options: FilesSourceOptions, machine: Machine = { open, readdir, stat }): Source {
  return new FilesSource(options, machine);
}

class FilesSource implements Source {
  readonly offsets = "bytes";
  readonly #contents: Contents;
  readonly #locator: Locator;
  readonly #discovery: Discovery;
  readonly #maxLineBytes: number;

  constructor(options: FilesSourceOptions, machine: Machine) {
    const { path, bounded, maxLineBytes, compression, names } = checkFilesSource(options);
    const { now = Date.now, finishedPartitions = defaultFinishedPartitions } = machine;
    const contents = new Contents(machine, compression);
    const looks = new Looks({ contents, bounded, now });
    const folder = new InputFolder(machine, path, names);
    const locator = new Locator(folder, looks, contents);
    this.#contents = contents;
    this.#locator = locator;
    this.#discovery = new Discovery({ folder, locator, contents, bounded, now, finishedPartitions });
    this.#maxLineBytes = maxLineBytes;
  }

  discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    return this.#discovery.look(known);
  }

  async cut(range: SourceRange, limit: CutLimit) {
    return await this.#use(range, (file) => cutLines(file, range, limit));
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    if (range.to - range.from <= pieceBytes) return [];
    // Each piece of a compressed file would have to be decompressed from the file's beginning.
    return await this.#use(range, async (file) => (file.sequential ? [] : await splitLines(file, range, pieceBytes)));
  }

  async *read(range: SourceRange, signal?: AbortSignal) {
    if (range.from >= range.to) return;
    const file = await this.#locator.open(range);
    try {
      if (!file.sequential) await checkUnedited(file, wantedFile({ ...range, position: range.to }));
      const lines = { from: await firstLine(file, range), to: range.to };
      if (lines.from === lines.to) yield noLines(range.to);
      else yield* new LineReader(file, lines, this.#maxLineBytes).batches(signal);
    } finally {
      await file.close();
    }
  }

  async place(range: SourceRange, offset: number) {
    return await this.#use(range, async (file) => {
      const line = await new LineCounter(file).lineAt(offset);
      return { partition: range.id, offset, file: file.path, line };
    });
  }

  async close(): Promise<void> {
    await this.#contents.close();
  }

  #use<T>(range: SourceRange, work: (file: OpenInput) => Promise<T>): Promise<T> {
    return using(this.#locator.open(range), work);
  }
}

function noLines(next: number): RecordBatch {
  const empty = new Int32Array();
  return { bytes: Buffer.alloc(0), count: 0, valueStart: empty, valueEnd: empty, offsets: new Float64Array(), next };
}

function checkFilesSource(options: FilesSourceOptions) {
  const common = checkLineOptions(options, ["path", "bounded"]);
  const { path, bounded } = options;
  if (typeof path !== "string" || path === "") {
    throw new UsageError("invalid-options", "files.source() needs a path", {
      wayOut: "Give the path of a file, or of a folder of files.",
    });
  }
  return { path, bounded, ...common };
}
