import { open, readdir, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { LossError, UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import { type CompressionOption, compressionOptions } from "../compression/decompress.ts";
import { tailBytes } from "../compression/measure.ts";
import { FileNames, type NameOptions } from "../lines/file-names.ts";
import { edited } from "../lines/input-errors.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutLines, endsLine, firstLine, LineCounter, lastLineEnd, splitLines } from "../lines/lines.ts";
import { partitionId } from "../lines/partition-id.ts";
import { Contents, type OpenInput } from "./contents.ts";
import { type FoundFile, identify, isEdited } from "./found-file.ts";
import { type FileIdentity, isDone, mayBeInLine, type WantedFile, wantedFile } from "./identity.ts";
import type { ReadableFileSystem } from "./input-file.ts";
import { InputFolder } from "./input-folder.ts";
import { Locator, type Survey } from "./locator.ts";
import { Looks } from "./looks.ts";

const mebibyte = 1024 * 1024;
/** A line becomes one string at most, and V8's strings end at about 512 MiB. */
const largestLineBytes = 256 * mebibyte;
/** While a rotation renames and copies, a file may be nowhere for an instant: before that is a loss, it is looked for again, after so many milliseconds. */
const looksAgainMs = [20, 100, 300];
/** So long a file that was read to its end is remembered after it has gone: it may come back, from a backup or with its disk. */
const rememberedMs = 24 * 60 * 60_000;

export interface FilesSourceOptions extends NameOptions {
  /** A file, or a folder whose files are read at any depth, but for those whose name begins with `.` or `_`. */
  readonly path: string;
  /** Longest line, in bytes without its end; longer ones follow `onError`. 16 MiB by default. */
  readonly maxLineBytes?: number;
  /** Which files are decompressed: those that begin as one of the formats does (`auto`, the default), none, or all, by the one format that they must have. */
  readonly compression?: CompressionOption;
  /**
   * The input ends where the files end now: a last line without line end is a record, and what is appended to it later, but for its end, a line of its own.
   * Otherwise such a line waits for its end.
   */
  readonly bounded: boolean;
}

/** What the source has of the machine: a test can put failures in. */
export interface Machine extends ReadableFileSystem {
  /** Epoch milliseconds; 'Date.now' by default. */
  readonly now?: () => number;
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
  readonly #folder: InputFolder;
  readonly #looks: Looks;
  readonly #bounded: boolean;
  readonly #maxLineBytes: number;
  readonly #now: () => number;

  constructor(options: FilesSourceOptions, machine: Machine) {
    const { path, bounded, maxLineBytes, compression, names } = checkFilesSource(options);
    this.#now = machine.now ?? Date.now;
    this.#contents = new Contents(machine, compression);
    this.#looks = new Looks({ contents: this.#contents, bounded, now: this.#now });
    this.#folder = new InputFolder(machine, path, names);
    this.#locator = new Locator(this.#folder, this.#looks, this.#contents);
    this.#bounded = bounded;
    this.#maxLineBytes = maxLineBytes;
  }

  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    for (const delayMs of looksAgainMs) {
      try {
        return await this.#discover(known);
      } catch (error) {
        if (!isPassing(error)) throw error;
        await sleep(delayMs);
      }
    }
    return await this.#discover(known);
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

  async #discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const wanted = known.map(wantedFile);
    // Where there was more to read, what is missing is a loss; else it may be that a wrong path was given.
    if (wanted.every(isDone)) await this.#folder.checkExists(wanted.map(({ identity }) => identity.file));
    const survey = await this.#locator.survey(wanted);
    const partitions: PartitionStatus[] = [];
    for (const one of wanted) partitions.push(await this.#known(one, survey));
    const old = new Set(survey.located.values());
    const taken = new Set(known.map(({ id }) => id));
    for (const file of survey.found) {
      if (old.has(file)) continue;
      const id = partitionId(file.file, taken);
      taken.add(id);
      partitions.push(await this.#status(id, file));
    }
    return partitions;
  }

  /** A partition of the ledger. Throws if there is more to read of it, and its file is not there, or not whole (I8). */
  async #known(wanted: WantedFile, { located, found }: Survey): Promise<PartitionStatus> {
    const { id, identity, position } = wanted;
    const file = located.get(wanted);
    if (file !== undefined && (file.size >= identity.seen || identity.unmeasured)) {
      if (!file.packed && !isNearTail(wanted)) await this.#useFound(file, (input) => checkUnedited(input, wanted));
      return await this.#status(id, file, wanted);
    }
    const changed = found.find((one) => isEdited(one, identity));
    if (changed !== undefined) throw edited(changed.path, identity.seen);
    if (file === undefined && isDone(wanted)) return this.#gone(wanted, found);
    throw await this.#locator.loss(wanted, { read: position, needed: identity.seen }, found);
  }

  /** A file that was read to its end. Where nothing is found at all, it is rather the folder that has gone. */
  #gone({ id, identity, position }: WantedFile, found: readonly FoundFile[]): PartitionStatus {
    const now = this.#now();
    const { gone = now, ...others } = identity;
    const isOver = found.length > 0 && now - gone >= rememberedMs;
    const kept: FileIdentity = found.length > 0 ? { ...others, gone } : others;
    return { id, identity: kept, start: 0, end: position, high: position, ...(isOver && { isOver: true as const }) };
  }

  async #status(id: string, file: FoundFile, known?: WantedFile): Promise<PartitionStatus> {
    const position = known?.position ?? 0;
    const identity = identify(file, known);
    if (file.unmeasured) return { id, identity, start: 0, end: position, high: position + file.size };
    const isWhole = this.#bounded || file.packed !== undefined || file.size === position;
    const end = isWhole ? file.size : await this.#lastLineEnd(file, position);
    return { id, identity, start: 0, end, high: end };
  }

  #lastLineEnd(found: FoundFile, position: number): Promise<number> {
    return this.#useFound(found, (file) => lastLineEnd(file, { from: position, to: found.size }));
  }

  #useFound<T>(found: FoundFile, work: (file: OpenInput) => Promise<T>): Promise<T> {
    return this.#using(this.#contents.open(found), work);
  }

  #use<T>(range: SourceRange, work: (file: OpenInput) => Promise<T>): Promise<T> {
    return this.#using(this.#locator.open(range), work);
  }

  async #using<T>(opening: Promise<OpenInput>, work: (file: OpenInput) => Promise<T>): Promise<T> {
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

/** It may be otherwise a moment later. */
function isPassing(error: unknown): boolean {
  if (error instanceof LossError) return ["input-vanished", "input-replaced", "input-shrank"].includes(error.code);
  return (error as { code?: unknown }).code === "input-moving";
}

/** What lies before its position is among the bytes that have been compared. */
function isNearTail({ identity, position }: WantedFile): boolean {
  return identity.tail !== undefined && identity.seen - position < tailBytes;
}

/**
 * Positions lie between lines, or where the file once ended. One that does not any more says that the file was edited in place, and its lines would be
 * cut in two. (An edit that leaves the lines where they were is not found, and does no such harm.)
 *
 * @throws LossError `input-edited`
 */
async function checkUnedited(file: OpenInput, wanted: WantedFile): Promise<void> {
  const { position } = wanted;
  if (position === 0 || mayBeInLine(wanted) || (await endsLine(file, position))) return;
  throw edited(file.path, position);
}

function checkFilesSource(options: FilesSourceOptions) {
  checkOptions("files.source()", options, ["path", "maxLineBytes", "compression", "include", "exclude", "bounded"]);
  const { path, bounded, maxLineBytes = 16 * mebibyte, compression = "auto" } = options;
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
  if (!compressionOptions.includes(compression)) {
    throw new UsageError("invalid-options", `compression of files.source() cannot be ${String(compression)}`, {
      wayOut: `It is one of ${compressionOptions.join(", ")}.`,
    });
  }
  return { path, bounded, maxLineBytes, compression, names: new FileNames(options) };
}
