import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { RefusedRow, RowBatch, SinkContext, Transaction } from "../../ports/sink.ts";
import { JsonLines } from "../output/json-lines.ts";
import { directName, finalName, stagedName } from "../output/names.ts";
import type { PreparedFile } from "../output/prepared-file.ts";
import { makeFolder, remove } from "./durable.ts";
import { fileSystemError } from "./errors.ts";
import type { OutputLayout } from "./output-layout.ts";

/** The writer waits while more bytes than these are on their way to the disk. */
const mostQueuedBytes = 1 << 22;

/** One task's rows as JSON lines, in a file that no reader looks at. It is created with the first chunk: no rows, no file. */
export class StagedFile implements Transaction {
  readonly #layout: OutputLayout;
  readonly #context: SinkContext;
  readonly #name: string;
  readonly #lines: JsonLines;
  #queuedBytes = 0;
  #written: Promise<void> = Promise.resolve();
  #handle: FileHandle | undefined;

  constructor(layout: OutputLayout, context: SinkContext) {
    this.#layout = layout;
    this.#context = context;
    this.#name = stagedName(context);
    this.#lines = new JsonLines(context, (chunk) => this.#queue(chunk));
  }

  write(rows: RowBatch, refused?: RefusedRow): void {
    this.#lines.write(rows, refused);
  }

  async drained(): Promise<void> {
    if (this.#queuedBytes > mostQueuedBytes) await this.#written;
  }

  /** Everything written and synced; undefined if there were no rows. The file's name may still be lost, until its folder is synced. */
  async finish(): Promise<PreparedFile | undefined> {
    if (this.#lines.rows === 0) return undefined;
    const written = this.#lines.finish();
    await this.#written;
    await this.#named(async () => {
      await this.#handle?.sync();
      await this.#close();
    });
    const file = this.#context.direct ? directName(this.#context) : finalName(this.#context);
    return { staged: this.#name, file, ...written };
  }

  async discard(): Promise<void> {
    this.#lines.discard();
    const ended = [() => this.#written, () => this.#close(), () => remove(this.#path)];
    for (const step of ended) await step().catch(() => {});
  }

  get #path(): string {
    return join(this.#layout.staging, this.#name);
  }

  /** Hands a chunk to the disk, behind what it has got already. A failure is heard by whoever waits next. */
  #queue(chunk: Buffer): void {
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
