import { createHash } from "node:crypto";
import { type ManifestFile, manifestFolder } from "../manifest.ts";
import type { ByteRange, WritableStore } from "../store.ts";

/** An output in memory, whose clock a test sets, and whose every call it can watch. */
export class MemoryStore implements WritableStore {
  readonly files = new Map<string, { readonly bytes: Buffer; readonly madeAt: number }>();
  now = 0;
  /** Called before each call, and after it; may wait, or throw. */
  around: (call: string, moment: "before" | "after") => Promise<void> | void = () => {};

  urlOf(path: string): string {
    return path;
  }

  /** In two halves, by name, between which others may do things: no listing of many files is made at one moment. */
  async manifests(): Promise<string[]> {
    const paths = () => [...this.files.keys()].filter((path) => path.startsWith(manifestFolder)).sort();
    const first = await this.#call("manifests, first half", () => paths().slice(0, Math.ceil(paths().length / 2)));
    const last = first.at(-1) ?? "";
    const rest = await this.#call("manifests, second half", () => paths().filter((path) => path > last));
    return [...first, ...rest];
  }

  async modifiedAt(path: string): Promise<number | undefined> {
    return await this.#call(`modifiedAt ${path}`, () => this.files.get(path)?.madeAt);
  }

  async read(path: string, range?: ByteRange): Promise<AsyncIterable<Buffer> | undefined> {
    const bytes = await this.#call(`read ${path}`, () => this.files.get(path)?.bytes);
    return bytes && inPieces(bytes.subarray(range?.start, range?.end));
  }

  async readRows({
    file,
    offset = 0,
    bytes,
    digest,
  }: ManifestFile): Promise<AsyncIterable<Buffer> | "missing" | "damaged"> {
    const found = await this.#call(`readRows ${file}`, () => this.files.get(file)?.bytes);
    const part = found?.subarray(offset, offset + bytes);
    if (part === undefined) return "missing";
    return createHash("sha256").update(part).digest("hex") === digest ? inPieces(part) : "damaged";
  }

  async create(path: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<"created" | "exists"> {
    const gathered: Buffer[] = [];
    for await (const chunk of chunks) gathered.push(Buffer.from(chunk));
    return await this.#call(`create ${path}`, () => {
      if (this.files.has(path)) return "exists";
      this.files.set(path, { bytes: Buffer.concat(gathered), madeAt: this.now });
      return "created";
    });
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.#call(`remove ${path}`, () => this.files.delete(path));
  }

  async #call<T>(name: string, work: () => T): Promise<T> {
    await this.around(name, "before");
    const result = work();
    await this.around(name, "after");
    return result;
  }
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 61) yield bytes.subarray(at, at + 61);
}
