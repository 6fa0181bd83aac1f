import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import type { RefusedRow, RowBatch, SinkContext, Transaction } from "../../ports/sink.ts";
import { makeFolder, remove } from "./durable.ts";
import { fileSystemError } from "./errors.ts";
import { finalName, type OutputLayout, stagedName } from "./output-layout.ts";
import type { PreparedFile } from "./prepared-file.ts";

/** Characters that are gathered before they are encoded and written: measured, longer strings take more time a row. */
const chunkCharacters = 1 << 16;
/** The writer waits while more bytes than these are on their way to the disk. */
const mostQueuedBytes = 1 << 22;

/** One task's rows as JSON lines, in a file that no reader looks at. It is created with the first chunk: no rows, no file. */
export class StagedFile implements Transaction {
  readonly #layout: OutputLayout;
  readonly #context: SinkContext;
  readonly #name: string;
  readonly #digest = createHash("sha256");
  #text = "";
  #rows = 0;
  #bytes = 0;
  #queuedBytes = 0;
  #written: Promise<void> = Promise.resolve();
  #handle: FileHandle | undefined;

  constructor(layout: OutputLayout, context: SinkContext) {
    this.#layout = layout;
    this.#context = context;
    this.#name = stagedName(context);
  }

  write(rows: RowBatch, refused?: RefusedRow): void {
    for (let index = 0; index < rows.length; ) {
      try {
        for (; index < rows.length; index++) {
          this.#text += `${this.#encode(rows[index])}\n`;
          this.#rows++;
          if (this.#text.length >= chunkCharacters) this.#queue();
        }
      } catch (error) {
        if (refused === undefined || !(error instanceof UserCodeError)) throw error;
        refused(index++, error);
      }
    }
  }

  async drained(): Promise<void> {
    if (this.#queuedBytes > mostQueuedBytes) await this.#written;
  }

  /** Everything written and synced; undefined if there were no rows. The file's name may still be lost, until its folder is synced. */
  async finish(): Promise<PreparedFile | undefined> {
    if (this.#rows === 0) return undefined;
    this.#queue();
    await this.#written;
    await this.#named(async () => {
      await this.#handle?.sync();
      await this.#close();
    });
    const digest = this.#digest.digest("hex");
    return { staged: this.#name, file: finalName(this.#context), bytes: this.#bytes, rows: this.#rows, digest };
  }

  async discard(): Promise<void> {
    this.#text = "";
    const ended = [() => this.#written, () => this.#close(), () => remove(this.#path)];
    for (const step of ended) await step().catch(() => {});
  }

  get #path(): string {
    return join(this.#layout.staging, this.#name);
  }

  #encode(row: unknown): string {
    let text: string | undefined;
    let cause: unknown;
    try {
      text = toJsonText(row);
    } catch (error) {
      cause = error;
    }
    if (text !== undefined) return text;
    throw this.#notJson(row, cause);
  }

  #notJson(row: unknown, cause: unknown): UserCodeError {
    const { pipeline, sink, epoch, attempt } = this.#context;
    const reason = cause instanceof Error ? cause.message : `it is of type ${typeof row}`;
    return new UserCodeError("row-not-json", `sink ${sink}: a row cannot be written as JSON: ${reason}`, {
      wayOut: "Map rows to plain values before the sink.",
      place: { pipeline, sink, epoch, attempt },
      cause,
    });
  }

  /** Hands what is gathered to the disk, behind what it has got already. A failure is heard by whoever waits next. */
  #queue(): void {
    if (this.#text === "") return;
    const chunk = Buffer.from(this.#text);
    this.#text = "";
    this.#digest.update(chunk);
    this.#bytes += chunk.length;
    this.#queuedBytes += chunk.length;
    this.#written = this.#written.then(() => this.#append(chunk));
    this.#written.catch(() => {});
  }

  async #append(chunk: Buffer): Promise<void> {
    await this.#named(async () => {
      this.#handle ??= await this.#create();
      await this.#handle.writeFile(chunk);
    });
    this.#queuedBytes -= chunk.length;
  }

  async #create(): Promise<FileHandle> {
    await makeFolder(this.#layout.staging);
    return await open(this.#path, "wx");
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #named(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw fileSystemError(error, `write rows of sink ${this.#context.sink}`, this.#layout.root);
    }
  }
}
