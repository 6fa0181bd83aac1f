import type { SinkContext } from "../../ports/sink.ts";
import { Limiter } from "../output/limiter.ts";
import { stagedFileName, stagedName } from "../output/names.ts";
import type { StagedFile, Staging } from "../output/staging.ts";
import { abortUpload, partBytes, startUpload, type UploadedPart, uploadPart } from "./multipart.ts";
import type { OutputPlace } from "./output-place.ts";
import type { Upload } from "./prepared-upload.ts";

/** By this an object tells which invocation's upload it was. */
export const stagedMetadata = "epochflow-staged";

/** A request waits for its answer most of its time. */
const requestsAtOnce = 16;

/** A task's files as multipart uploads, which no reader sees. Parts are small only at their ends, so a file that has to give its bytes away ends. */
export class StagedUploads implements Staging<Upload> {
  readonly chunkBytes = partBytes;
  readonly mostHeldBytes = 1 << 26;
  readonly takesSmallChunks = false;
  readonly #place: OutputPlace;
  readonly #context: SinkContext;
  readonly #requests = new Limiter(requestsAtOnce);
  readonly #uploads: StagedUpload[] = [];
  #queuedBytes = 0;

  constructor(place: OutputPlace, context: SinkContext) {
    this.#place = place;
    this.#context = context;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  file(number: number, path: string): StagedFile<Upload> {
    const staged = stagedFileName(stagedName(this.#context), number);
    const upload = new StagedUpload(this.#place, path, staged, async (part, send) => {
      this.#queuedBytes += part.length;
      await this.#requests.run(send);
      this.#queuedBytes -= part.length;
    });
    this.#uploads.push(upload);
    return upload;
  }

  async written(): Promise<void> {
    for (const upload of this.#uploads) await upload.written;
  }

  async discard(): Promise<void> {
    for (const upload of this.#uploads) await upload.discard();
  }
}

/** Sends a part when its turn comes. */
type Send = (part: Buffer, send: () => Promise<void>) => Promise<void>;

/** One file. It is begun with its first part. */
class StagedUpload implements StagedFile<Upload> {
  readonly #place: OutputPlace;
  readonly #path: string;
  readonly #staged: string;
  readonly #send: Send;
  readonly #parts: UploadedPart[] = [];
  #upload: string | undefined;
  written: Promise<void> = Promise.resolve();

  constructor(place: OutputPlace, path: string, staged: string, send: Send) {
    this.#place = place;
    this.#path = path;
    this.#staged = staged;
    this.#send = send;
  }

  append(part: Buffer): void {
    const before = this.written;
    this.written = this.#send(part, async () => {
      await before;
      await this.#sendPart(part);
    });
    this.written.catch(() => {}); // whoever waits next hears of it
  }

  async end(): Promise<Upload> {
    await this.written;
    return { upload: this.#upload!, parts: this.#parts };
  }

  async discard(): Promise<void> {
    await this.written.catch(() => {});
    const upload = this.#upload;
    this.#upload = undefined;
    if (upload !== undefined) await abortUpload(this.#place.bucket, this.#key, upload).catch(() => {});
  }

  get #key(): string {
    return this.#place.keyOf(this.#path);
  }

  async #sendPart(part: Buffer): Promise<void> {
    const { bucket } = this.#place;
    this.#upload ??= await startUpload(bucket, this.#key, { [stagedMetadata]: this.#staged });
    this.#parts.push(await uploadPart(bucket, this.#key, this.#upload, this.#parts.length + 1, part));
  }
}
