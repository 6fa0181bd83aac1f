import { UsageError, UserCodeError } from "../../errors.ts";
import { JsonColumns } from "../../json-bytes/columns.ts";
import { JsonRow, type RowWriter } from "../../json-bytes/rows.ts";
import type { PathTemplate } from "../../path-template/template.ts";
import type { ColumnRows } from "../../ports/columns.ts";
import type { RefusedRow, RowBatch, SinkContext, Transaction } from "../../ports/sink.ts";
import type { FileFormat } from "./file-format.ts";
import type { ManifestFile } from "./manifest.ts";
import { directName, finalName, stagedName } from "./names.ts";
import { OutputFile } from "./output-file.ts";
import type { PreparedFiles } from "./prepared-files.ts";
import type { Staging } from "./staging.ts";

/** The writer waits while more bytes than these are on their way. */
const mostQueuedBytes = 1 << 24;
/** Files of one task and epoch: the ledger holds a line for each. */
const mostFiles = 5000;

/** How rows are spread over files. */
export interface Layout {
  readonly format: FileFormat;
  /** Folders by rows; without it all files lie in the output itself. */
  readonly template: PathTemplate | undefined;
  /** A file ends once it has so many bytes. */
  readonly maxFileBytes: number;
}

/** Of the output, in which a row's file lies; "" is the output itself. @throws UserCodeError for a row that has no place */
export function folderOf({ template }: Layout, row: unknown, context: SinkContext): string {
  if (template === undefined) return "";
  try {
    return template.folderOf(row);
  } catch (error) {
    if (!(error instanceof UserCodeError)) throw error;
    const { pipeline, sink, epoch, attempt } = context;
    const { code, message, wayOut } = error;
    const place = { pipeline, sink, epoch, attempt };
    const text = `sink ${sink}: a row has no place in its files: ${message}`;
    throw new UserCodeError(code, text, { ...(wayOut && { wayOut }), place });
  }
}

/** One task's rows, in files that no reader looks at. A file is created with its first chunk: no rows, no file. */
export class StagedRows<Extra extends object> implements Transaction {
  readonly #layout: Layout;
  readonly context: SinkContext;
  readonly #staging: Staging<Extra>;
  /** Writes a row's JSON, where that is a line, and no row has a say in which folder it goes. */
  readonly #json: JsonRow | undefined;
  readonly #columns: JsonColumns | undefined;
  /** By folder: files that take rows, and how many there were before them. */
  readonly #open = new Map<string, OutputFile<Extra>>();
  readonly #begun = new Map<string, number>();
  readonly #ended: Promise<ManifestFile & Extra>[] = [];
  #files = 0;
  #held = 0;

  constructor(layout: Layout, context: SinkContext, staging: Staging<Extra>) {
    this.#layout = layout;
    this.context = context;
    this.#staging = staging;
    const writes = layout.format.jsonLineEnd !== undefined && layout.template === undefined;
    this.#json = writes ? new JsonRow() : undefined;
    this.#columns = writes ? new JsonColumns() : undefined;
  }

  write(rows: RowBatch, refused?: RefusedRow): void {
    for (let index = 0; index < rows.length; ) {
      try {
        for (; index < rows.length; index++) this.#add(rows[index]);
      } catch (error) {
        if (refused === undefined || !(error instanceof UserCodeError)) throw error;
        refused(index++, error);
      }
    }
  }

  writeColumns(columns: ColumnRows, refused?: RefusedRow): void {
    const json = this.#columns;
    if (json === undefined) {
      this.write(columns.rows(), refused);
      return;
    }
    json.begin(columns);
    for (let index = 0; index < columns.length; index++) {
      json.row = index;
      if (!this.#addWritten(json))
        this.write([columns.rows()[index]], refused && ((_, error) => refused(index, error)));
    }
  }

  async drained(): Promise<void> {
    if (this.#staging.queuedBytes > mostQueuedBytes) await this.#staging.written();
  }

  /** Everything is durable but the names of files; undefined if there were no rows. */
  async finish(): Promise<PreparedFiles<Extra> | undefined> {
    for (const folder of [...this.#open.keys()]) this.#end(folder);
    const files = await Promise.all(this.#ended);
    return files.length === 0 ? undefined : { staged: stagedName(this.context), files };
  }

  async discard(): Promise<void> {
    this.#open.clear();
    await Promise.allSettled(this.#ended);
    await this.#staging.discard();
  }

  #add(row: unknown): void {
    if (this.#json !== undefined) {
      this.#json.row = row;
      if (this.#addWritten(this.#json)) return;
    }
    const line = this.#layout.format.line(row, this.context);
    const folder = folderOf(this.#layout, row, this.context);
    const file = this.#open.get(folder) ?? this.#begin(folder);
    const before = file.held;
    file.add(line);
    this.#added(folder, file, before);
  }

  /** False: it cannot write itself, or would be the first of a file, and nothing is added. */
  #addWritten(row: RowWriter): boolean {
    const file = this.#open.get("");
    if (file === undefined) return false;
    const before = file.held;
    if (!file.addWritten(row, this.#layout.format.jsonLineEnd!)) return false;
    this.#added("", file, before);
    return true;
  }

  /** What is held decides where files end, never what is written already, so that they end at the same rows each time (I6). */
  #added(folder: string, file: OutputFile<Extra>, before: number): void {
    const { isFull } = file;
    if (isFull) file.encode();
    this.#held += file.held - before;
    if (isFull && file.bytes >= this.#layout.maxFileBytes) this.#end(folder);
    if (this.#held > this.#staging.mostHeldBytes) this.#relieve();
  }

  #begin(folder: string): OutputFile<Extra> {
    if (this.#files >= mostFiles) throw this.#tooMany();
    const number = this.#begun.get(folder) ?? 0;
    this.#begun.set(folder, number + 1);
    const { format, maxFileBytes } = this.#layout;
    const nameOf = this.context.direct ? directName : finalName;
    const name = nameOf(this.context, number, format.extension);
    const path = folder === "" ? name : `${folder}/${name}`;
    const sizes = { chunkBytes: this.#staging.chunkBytes, maxBytes: maxFileBytes };
    const file = new OutputFile(path, format, this.#staging.file(this.#files++, path), sizes);
    this.#open.set(folder, file);
    this.#held += file.held;
    return file;
  }

  #end(folder: string): void {
    const file = this.#open.get(folder)!;
    this.#open.delete(folder);
    this.#held -= file.held;
    const ended = file.end();
    ended.catch(() => {}); // whoever finishes hears of it
    this.#ended.push(ended);
  }

  /** Too much waits in memory: the fullest files give theirs away. */
  #relieve(): void {
    const fullest = [...this.#open].sort(([, one], [, other]) => other.held - one.held);
    for (const [folder, file] of fullest) {
      if (this.#held <= this.#staging.mostHeldBytes / 2) return;
      if (!this.#staging.takesSmallChunks) this.#end(folder);
      else {
        const before = file.held;
        file.flush();
        this.#held += file.held - before;
      }
    }
  }

  /** Not of a row: another one would be too many if the epoch were larger. */
  #tooMany(): UsageError {
    const { pipeline, sink, epoch, attempt } = this.context;
    return new UsageError(
      "too-many-files",
      `sink ${sink} would write more than ${mostFiles} files in a task of epoch ${epoch}`,
      {
        wayOut:
          "Partition by a field with fewer values, or by a part of one; the others stay in the rows. Smaller epochs (`--epoch-records`, `intervalMs`) have fewer, too.",
        place: { pipeline, sink, epoch, attempt },
      },
    );
  }
}
