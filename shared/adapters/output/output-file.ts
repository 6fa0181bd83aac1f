import { createHash } from "node:crypto";
import type { RowWriter } from "../../json-bytes/rows.ts";
import type { FileFormat } from "./file-format.ts";
import { Lines } from "./lines.ts";
import type { ManifestFile } from "./manifest.ts";
import type { StagedFile } from "./staging.ts";

/** A file in the making: gathers lines and chunks, and counts what a manifest says of them. */
export class OutputFile<Extra extends object> {
  readonly #path: string;
  readonly #format: FileFormat;
  readonly #staged: StagedFile<Extra>;
  /** Bytes that are handed on at once. */
  readonly #chunkBytes: number;
  /** Bytes of lines that are compressed at once. */
  readonly #linesBytes: number;
  readonly #digest = createHash("sha256");
  #offset = 0;
  #rows = 0;
  #bytes = 0;
  readonly #lines: Lines;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  /** @param maxBytes lines become bytes at least as often, so that whoever looks at `bytes` sees the file grow */
  constructor(
    path: string,
    format: FileFormat,
    staged: StagedFile<Extra>,
    { chunkBytes, maxBytes }: { chunkBytes: number; maxBytes: number },
  ) {
    this.#linesBytes = Math.min(format.chunkBytes, maxBytes);
    this.#lines = new Lines(this.#linesBytes);
    this.#path = path;
    this.#format = format;
    this.#staged = staged;
    this.#chunkBytes = chunkBytes;
    if (format.header === undefined) return;
    const header = format.compress(Buffer.from(format.header));
    this.#offset = header.length;
    this.#gather(header);
  }

  /** Bytes of it that wait in memory. */
  get held(): number {
    return this.#lines.bytes + this.#gatheredBytes;
  }

  /** Bytes of the file, without those of lines that are not compressed yet. */
  get bytes(): number {
    return this.#offset + this.#bytes;
  }

  add(line: string): void {
    this.#rows++;
    this.#lines.add(line);
  }

  /** Adds a row that writes itself, and the line's end. @returns false if it cannot: then nothing is added */
  addWritten(row: RowWriter, lineEnd: string): boolean {
    if (!this.#lines.addWritten(row, lineEnd)) return false;
    this.#rows++;
    return true;
  }

  /** There are enough lines to compress them: then `encode`. */
  get isFull(): boolean {
    return this.#lines.bytes >= this.#linesBytes;
  }

  /** Lines become a chunk of the file. */
  encode(): void {
    if (this.#lines.bytes === 0) return;
    const chunk = this.#format.compress(this.#lines.take());
    this.#digest.update(chunk);
    this.#bytes += chunk.length;
    this.#gather(chunk);
  }

  /** Hands on what is held. */
  flush(): void {
    this.encode();
    if (this.#gatheredBytes === 0) return;
    const chunk = this.#gathered.length === 1 ? this.#gathered[0]! : Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#staged.append(chunk);
  }

  async end(): Promise<ManifestFile & Extra> {
    this.flush();
    const counts = { file: this.#path, rows: this.#rows, bytes: this.#bytes, digest: this.#digest.digest("hex") };
    const { header } = this.#format;
    const extra = await this.#staged.end();
    return { ...counts, ...(header !== undefined && { offset: this.#offset, header }), ...extra };
  }

  #gather(chunk: Buffer): void {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes >= this.#chunkBytes) this.flush();
  }
}
