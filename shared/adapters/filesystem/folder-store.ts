import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { didYouMean } from "../../options.ts";
import { type ManifestFile, manifestFolder } from "../output/manifest.ts";
import type { ByteRange, WritableStore } from "../output/store.ts";
import { digestOf } from "./digest.ts";
import { createWhole, makeFolder, type NamingSystem, remove, syncFolder, unlessMissing } from "./durable.ts";
import { type OutputLayout, outputLayout } from "./output-layout.ts";

const chunkBytes = 1 << 20;

/** The output of a files sink in a folder. */
export class FolderStore implements WritableStore {
  readonly #given: string;
  readonly #layout: OutputLayout;
  readonly #drafts: { readonly prefix: string; readonly system: NamingSystem | undefined };

  /** @param drafts what names of unfinished files begin with; only who writes needs it */
  constructor(path: string, drafts: { prefix: string; system?: NamingSystem | undefined } = { prefix: "" }) {
    this.#given = path;
    this.#layout = outputLayout(path);
    this.#drafts = { prefix: drafts.prefix, system: drafts.system };
  }

  urlOf(path: string): string {
    return join(this.#layout.root, path);
  }

  async manifests(): Promise<string[]> {
    const names = await unlessMissing(readdir(this.#layout.manifests));
    if (names === undefined) throw await this.#notAnOutput();
    return names.map((name) => manifestFolder + name);
  }

  async modifiedAt(path: string): Promise<number | undefined> {
    return (await unlessMissing(stat(this.urlOf(path))))?.mtimeMs;
  }

  async read(path: string, range?: ByteRange): Promise<AsyncIterable<Buffer> | undefined> {
    const handle = await unlessMissing(open(this.urlOf(path)));
    return handle && chunksOf(handle, range ?? { start: 0, end: (await handle.stat()).size });
  }

  /** Checks all of them first, so that no row of a damaged file is given. */
  async readRows({
    file,
    bytes,
    offset = 0,
    digest,
  }: ManifestFile): Promise<AsyncIterable<Buffer> | "missing" | "damaged"> {
    const handle = await unlessMissing(open(this.urlOf(file)));
    if (handle === undefined) return "missing";
    if ((await digestOf(handle, { offset, bytes }, Buffer.allocUnsafeSlow(chunkBytes))) === digest)
      return chunksOf(handle, { start: offset, end: offset + bytes });
    await handle.close();
    return "damaged";
  }

  async create(path: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<"created" | "exists"> {
    const full = this.urlOf(path);
    await makeFolder(dirname(full));
    const { prefix, system } = this.#drafts;
    const outcome = await createWhole(full, chunks, { folder: this.#layout.staging, prefix }, system);
    return outcome === "published" ? "created" : "exists";
  }

  async remove(paths: readonly string[]): Promise<void> {
    const folders = new Set<string>();
    for (const path of paths) {
      await remove(this.urlOf(path));
      folders.add(dirname(this.urlOf(path)));
    }
    for (const folder of folders) await unlessMissing(syncFolder(folder));
  }

  async #notAnOutput(): Promise<UsageError> {
    const { root } = this.#layout;
    const names = (await unlessMissing(readdir(dirname(root)))) ?? [];
    const meant = (await unlessMissing(stat(root))) ? "" : didYouMean(basename(root), names);
    return new UsageError("not-an-output", `${this.#given} is not the output folder of a files sink.${meant}`, {
      wayOut: "Give the folder that the pipeline's files.sink() writes to.",
      place: { file: root },
    });
  }
}

async function* chunksOf(handle: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  try {
    for (let position = start; position < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, end - position));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
