import { LossError, UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { decompressed } from "./decompression.ts";
import { outputOf } from "./direct.ts";
import type { Manifest, ManifestFile } from "./manifest.ts";
import { baseOf, extensionOf } from "./names.ts";
import { endingsOf } from "./records.ts";
import type { OutputStore } from "./store.ts";

export interface ReadOptions {
  /** Epochs up to this one are left out: a reader that has seen it goes on behind it. */
  readonly after?: number;
}

/** Rows of one epoch, as they are in their files, without line ends. */
export interface EpochRows {
  readonly epoch: number;
  readonly rows: AsyncGenerator<string>;
}

/** @throws UsageError `unknown-option`, `invalid-option` */
export function checkReadOptions(what: string, options: ReadOptions): number {
  checkOptions(what, options, ["after"]);
  const { after = -1 } = options;
  if (Number.isSafeInteger(after)) return after;
  throw new UsageError("invalid-option", `after of ${what} is ${String(after)}, but must be the number of an epoch`);
}

/** All rows of whole epochs, in the order of epochs, folders, tasks and rows. */
export async function* rowsIn(store: OutputStore, after: number): AsyncGenerator<string> {
  for await (const { rows } of epochsIn(store, after)) yield* rows;
}

export async function* epochsIn(store: OutputStore, after: number): AsyncGenerator<EpochRows> {
  for await (const manifest of outputOf(store, after)) yield { epoch: manifest.epoch, rows: rowsOf(store, manifest) };
}

async function* rowsOf(store: OutputStore, manifest: Manifest): AsyncGenerator<string> {
  for await (const { file, chunks } of filesOf(store, manifest)) {
    const { split } = endingsOf(extensionOf(baseOf(file.file)));
    for await (const chunk of chunks) yield* split(chunk);
  }
}

/** The same as bytes, many rows at once: each chunk holds whole rows, their ends included. The names of columns come wherever they change. */
export async function* chunksIn(store: OutputStore, after: number): AsyncGenerator<Buffer> {
  let header: string | undefined;
  for await (const manifest of outputOf(store, after)) {
    for await (const { file, chunks } of filesOf(store, manifest)) {
      for await (const chunk of chunks) {
        if (file.header !== undefined && file.header !== header) yield Buffer.from(file.header);
        header = file.header;
        yield chunk;
      }
    }
  }
}

type OpenFile = { file: ManifestFile; chunks: AsyncGenerator<Buffer> };

/** A file that is gone was merged into another since its manifest was read, by which the epoch's rows are the same, in as many pieces. */
async function* filesOf(store: OutputStore, { epoch, files: known }: Manifest): AsyncGenerator<OpenFile> {
  let files = known;
  for (let index = 0; index < files.length; index++) {
    let rows = await store.readRows(files[index]!);
    if (rows === "missing") {
      files = (await filesNow(store, epoch, files.length)) ?? files;
      rows = await store.readRows(files[index]!);
    }
    const file = files[index]!;
    if (rows === "missing") throw lost("missing", epoch, store.urlOf(file.file));
    if (rows === "damaged") throw lost("damaged", epoch, store.urlOf(file.file));
    yield { file, chunks: wholeRows(decompressed(rows, file.file), extensionOf(baseOf(file.file))) };
  }
}

async function filesNow(store: OutputStore, epoch: number, count: number): Promise<Manifest["files"] | undefined> {
  for await (const now of outputOf(store, epoch - 1))
    return now.epoch === epoch && now.files.length === count ? now.files : undefined;
  return undefined;
}

/** Each chunk holds whole rows. */
async function* wholeRows(chunks: AsyncIterable<Buffer>, extension: string): AsyncGenerator<Buffer> {
  const { lastEnd } = endingsOf(extension);
  let rest: Buffer[] = [];
  let restBytes = 0;
  let wanted = 0;
  for await (const chunk of chunks) {
    rest.push(chunk);
    restBytes += chunk.length;
    // A row that is longer than a chunk is looked through again only once there is twice as much of it.
    if (restBytes < wanted) continue;
    const all = rest.length === 1 ? chunk : Buffer.concat(rest);
    const end = lastEnd(all);
    if (end > 0) yield Buffer.from(all.subarray(0, end));
    rest = [Buffer.from(all.subarray(end))];
    restBytes = all.length - end;
    wanted = end > 0 ? 0 : 2 * restBytes;
  }
  const last = Buffer.concat(rest);
  if (last.length > 0) yield last;
}

export function lost(what: "missing" | "damaged", epoch: number | undefined, url: string): LossError {
  const whose = epoch === undefined ? "its manifest says" : `epoch ${epoch} wrote it`;
  const message =
    what === "missing" ? `${url} is missing, which is output of epoch ${epoch}` : `${url} is not as ${whose}`;
  return new LossError(`output-file-${what}`, message, {
    wayOut: "Restore the file from a backup.",
    place: { file: url },
  });
}
