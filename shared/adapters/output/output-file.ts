import { createHash } from "node:crypto";
import type { FileFormat } from "./file-format.ts";
import type { ManifestFile } from "./manifest.ts";
import type { StagedFile } from "./staging.ts";

/** A file in the making: gathers lines and chunks, and counts what a manifest says of them. */
export class OutputFile<Extra extends object> {
  readonly #path: string;
  readonly #format: FileFormat;
  readonly #staged: StagedFile<Extra>;
  readonly #chunkBytes: number;
  readonly #chunkCharacters: number;
  readonly #digest = createHash("sha256");
  #offset = 0;
  #rows = 0;
  #bytes = 0;
  #lines = "";
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  /** @param maxBytes lines become bytes at least as often, so that whoever looks at `bytes` sees the file grow */
  constructor(
    path: string,
    format: FileFormat,
    staged: StagedFile<Extra>,
    { chunkBytes, maxBytes }: { chunkBytes: number; maxBytes: number },
  ) {
    this.#chunkCharacters = Math.min(format.chunkCharacters, maxBytes);
    this.#path = path;
    this.#format = format;
    this.#staged = staged;
    this.#chunkBytes = chunkBytes;
    if (format.header === undefined) return;
    const header = format.bytes(format.header);
    this.#offset = header.length;
    this.#gather(header);
  }

  /** What of it waits in memory: bytes, and characters of lines. */
  get held(): number {
    return this.#lines.length + this.#gatheredBytes;
  }

  /** Bytes of the file, without those that are still lines. */
  get bytes(): number {
    return this.#offset + this.#bytes;
  }

  /** @returns whether there is enough for a chunk: then `encode` it */
  add(line: string): boolean {
    this.#rows++;
    this.#lines += line;
    return this.#lines.length >= this.#chunkCharacters;
  }

  /** Lines become bytes. */
  encode(): void {
    if (this.#lines === "") return;
    const chunk = this.#format.bytes(this.#lines);
    this.#lines = "";
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
