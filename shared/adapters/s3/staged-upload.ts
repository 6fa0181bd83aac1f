import type { RefusedRow, RowBatch, SinkContext, Transaction } from "../../ports/sink.ts";
import { JsonLines } from "../output/json-lines.ts";
import { directName, finalName, stagedName } from "../output/names.ts";
import { abortUpload, partBytes, startUpload, type UploadedPart, uploadPart } from "./multipart.ts";
import type { OutputPlace } from "./output-place.ts";
import type { PreparedUpload } from "./prepared-upload.ts";

/** By this an object tells which invocation's upload it was. */
export const stagedMetadata = "epochflow-staged";

/** The writer waits while more bytes than these are on their way. */
const mostQueuedBytes = 2 * partBytes;

/** One task's rows as JSON lines, in a multipart upload, which no reader sees. It is begun with the first part: no rows, no upload. */
export class StagedUpload implements Transaction {
  readonly #place: OutputPlace;
  readonly #file: string;
  readonly #staged: string;
  readonly #lines: JsonLines;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #queuedBytes = 0;
  #written: Promise<void> = Promise.resolve();
  #upload: string | undefined;
  readonly #parts: UploadedPart[] = [];

  constructor(place: OutputPlace, context: SinkContext) {
    this.#place = place;
    this.#file = context.direct ? directName(context) : finalName(context);
    this.#staged = stagedName(context);
    this.#lines = new JsonLines(context, (chunk) => this.#gather(chunk));
  }

  write(rows: RowBatch, refused?: RefusedRow): void {
    this.#lines.write(rows, refused);
  }

  async drained(): Promise<void> {
    if (this.#queuedBytes > mostQueuedBytes) await this.#written;
  }

  /** All parts are there; undefined if there were no rows. */
  async finish(): Promise<PreparedUpload | undefined> {
    if (this.#lines.rows === 0) return undefined;
    const written = this.#lines.finish();
    this.#queue();
    await this.#written;
    const names = { staged: this.#staged, file: this.#file };
    return { ...names, ...written, upload: this.#upload!, parts: this.#parts };
  }

  async discard(): Promise<void> {
    this.#lines.discard();
    this.#gathered = [];
    await this.#written.catch(() => {});
    const { bucket } = this.#place;
    if (this.#upload !== undefined) await abortUpload(bucket, this.#key, this.#upload).catch(() => {});
    this.#upload = undefined;
  }

  get #key(): string {
    return this.#place.keyOf(this.#file);
  }

  #gather(chunk: Buffer): void {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes >= partBytes) this.#queue();
  }

  /** Hands what is gathered to S3, behind what it has got already. A failure is heard by whoever waits next. */
  #queue(): void {
    if (this.#gatheredBytes === 0) return;
    const part = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#queuedBytes += part.length;
    this.#written = this.#written.then(() => this.#send(part));
    this.#written.catch(() => {});
  }

  async #send(part: Buffer): Promise<void> {
    const { bucket } = this.#place;
    this.#upload ??= await startUpload(bucket, this.#key, { [stagedMetadata]: this.#staged });
    this.#parts.push(await uploadPart(bucket, this.#key, this.#upload, this.#parts.length + 1, part));
    this.#queuedBytes -= part.length;
  }
}
