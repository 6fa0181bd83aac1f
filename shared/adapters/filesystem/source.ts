import { open, readdir, stat } from "node:fs/promises";
import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import { edited } from "../lines/input-errors.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutBytes, cutRecords, endsLine, firstLine, LineCounter, lastLineEnd, splitLines } from "../lines/lines.ts";
import { partitionId } from "../lines/partition-id.ts";
import { type FoundFile, identify, isDone, mayBeInLine, type WantedFile, wantedFile } from "./identity.ts";
import type { InputFile, ReadableFileSystem } from "./input-file.ts";
import { InputFolder } from "./input-folder.ts";
import { isShortened, Locator } from "./locator.ts";

const mebibyte = 1024 * 1024;
/** A line becomes one string at most, and V8's strings end at about 512 MiB. */
const largestLineBytes = 256 * mebibyte;

export interface FilesSourceOptions {
  /** A file, or a folder whose files are read at any depth, but for those whose name begins with `.` or `_`. */
  readonly path: string;
  /** Longest line, in bytes without its end; longer ones follow `onError`. 16 MiB by default. */
  readonly maxLineBytes?: number;
  /**
   * The input ends where the files end now: a last line without line end is a record, and what is appended to it later, but for its end, a line of its own.
   * Otherwise such a line waits for its end.
   */
  readonly bounded: boolean;
}

/**
 * Lines of text files (protocol §7, Files). Each file is a partition, known by its beginning wherever it goes; the offset is the byte position of a
 * line's start. A line ends with `\n` or `\r\n`, which are no part of the value; an empty line is a record with an empty value.
 *
 * @throws UsageError for a wrong option
 */
export function createFilesSource(
  options: FilesSourceOptions,
  system: ReadableFileSystem = { open, readdir, stat },
): Source {
  return new FilesSource(options, system);
}

class FilesSource implements Source {
  readonly offsets = "bytes";
  readonly #locator: Locator;
  readonly #folder: InputFolder;
  readonly #bounded: boolean;
  readonly #maxLineBytes: number;

  constructor(options: FilesSourceOptions, system: ReadableFileSystem) {
    const { path, bounded, maxLineBytes } = checkFilesSource(options);
    this.#folder = new InputFolder(system, path);
    this.#locator = new Locator(system, this.#folder);
    this.#bounded = bounded;
    this.#maxLineBytes = maxLineBytes;
  }

  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const wanted = known.map(wantedFile);
    // Where there was more to read, what is missing is a loss; else it may be that a wrong path was given.
    if (wanted.every(isDone)) await this.#folder.checkExists(wanted.map(({ identity }) => identity.file));
    const found = await this.#folder.list();
    const located = await this.#locator.find(wanted, found);
    const partitions: PartitionStatus[] = [];
    for (const one of wanted) partitions.push(await this.#known(one, located.get(one), found));
    const old = new Set(located.values());
    const taken = new Set(known.map(({ id }) => id));
    for (const file of found) {
      if (old.has(file)) continue;
      const id = partitionId(file.file, taken);
      taken.add(id);
      checkPlain(file);
      partitions.push(await this.#status(id, file));
    }
    return partitions;
  }

  async cut(range: SourceRange, { bytes, records }: CutLimit) {
    const { from } = range;
    if (bytes === undefined && records === undefined) return { to: range.to, bytes: range.to - from };
    return await this.#use(range, async (file) => {
      const to = bytes === undefined ? range.to : await cutBytes(file, range, bytes);
      if (records === undefined) return { to, bytes: to - from };
      const lines = { from: await firstLine(file, { from, to }), to };
      const cut = await cutRecords(file, lines, Math.max(1, Math.floor(records)));
      return { ...cut, bytes: cut.to - from };
    });
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    if (range.to - range.from <= pieceBytes) return [];
    return await this.#use(range, (file) => splitLines(file, range, pieceBytes));
  }

  async *read(range: SourceRange, signal?: AbortSignal) {
    if (range.from >= range.to) return;
    const file = await this.#locator.open(range);
    try {
      await checkUnedited(file, wantedFile({ ...range, position: range.to }));
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

  async close(): Promise<void> {}

  /** A partition of the ledger. Throws if there is more to read of it, and its file is not there, or not whole (I8). */
  async #known(wanted: WantedFile, file: FoundFile | undefined, found: readonly FoundFile[]): Promise<PartitionStatus> {
    const { id, identity, position } = wanted;
    if (file !== undefined && file.size >= identity.seen) {
      await this.#useFound(file, (input) => checkUnedited(input, wanted));
      return await this.#status(id, file, wanted);
    }
    const over = file === undefined && isDone(wanted) && !found.some((one) => isShortened(wanted, one));
    if (!over) throw await this.#locator.loss(wanted, { read: position, needed: identity.seen }, found);
    return { id, identity, start: 0, end: position, high: position };
  }

  async #status(id: string, file: FoundFile, known?: WantedFile): Promise<PartitionStatus> {
    const position = known?.position ?? 0;
    const end = this.#bounded || file.size === position ? file.size : await this.#lastLineEnd(file, position);
    return { id, identity: identify(file, known), start: 0, end, high: end };
  }

  #lastLineEnd(found: FoundFile, position: number): Promise<number> {
    return this.#useFound(found, (file) => lastLineEnd(file, { from: position, to: found.size }));
  }

  #useFound<T>(found: FoundFile, work: (file: InputFile) => Promise<T>): Promise<T> {
    return this.#using(this.#locator.openFound(found), work);
  }

  #use<T>(range: SourceRange, work: (file: InputFile) => Promise<T>): Promise<T> {
    return this.#using(this.#locator.open(range), work);
  }

  async #using<T>(opening: Promise<InputFile>, work: (file: InputFile) => Promise<T>): Promise<T> {
    const file = await opening;
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }
}

function noLines(next: number): RecordBatch {
  const empty = new Int32Array();
  return { bytes: Buffer.alloc(0), count: 0, valueStart: empty, valueEnd: empty, offsets: new Float64Array(), next };
}

/**
 * Positions lie between lines, or where the file once ended. One that does not any more says that the file was edited in place, and its lines would be
 * cut in two. (An edit that leaves the lines where they were is not found, and does no such harm.)
 *
 * @throws LossError `input-edited`
 */
async function checkUnedited(file: InputFile, wanted: WantedFile): Promise<void> {
  const { position } = wanted;
  if (position === 0 || mayBeInLine(wanted) || (await endsLine(file, position))) return;
  throw edited(file.path, position);
}

function checkFilesSource(options: FilesSourceOptions): Required<FilesSourceOptions> {
  checkOptions("files.source()", options, ["path", "maxLineBytes", "bounded"]);
  const { path, bounded, maxLineBytes = 16 * mebibyte } = options;
  if (typeof path !== "string" || path === "") {
    throw new UsageError("invalid-options", "files.source() needs a path", {
      wayOut: "Give the path of a file, or of a folder of files.",
    });
  }
  if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1 || maxLineBytes > largestLineBytes) {
    throw new UsageError("invalid-options", `maxLineBytes of files.source() cannot be ${maxLineBytes}`, {
      wayOut: `Give a whole number of bytes from 1 to ${largestLineBytes}.`,
    });
  }
  return { path, bounded, maxLineBytes };
}

/** Compressed bytes taken for lines would give garbage without an error. */
function checkPlain({ path, head }: FoundFile): void {
  if (head[0] !== 0x1f || head[1] !== 0x8b) return;
  throw new UsageError("input-compressed", `the input ${path} is compressed by gzip`, {
    wayOut: "Decompress it (`gunzip`), or move it to where it is not read.",
    place: { file: path },
  });
}
