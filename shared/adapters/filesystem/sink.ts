import { open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EpochflowError, UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { CommitUnit, Garbage, SinkContext, Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Compaction } from "../output/compaction.ts";
import { LedgerAge } from "../output/ledger-age.ts";
import { forAll } from "../output/limiter.ts";
import { directPath, lengthOf, manifestText } from "../output/manifest.ts";
import { ownerName, parseStagingEntry, type SinkOwner, sealPrefix } from "../output/names.ts";
import {
  checkPrepared,
  type EpochContext,
  outputsOf,
  type PreparedFiles,
  type StagedOutput,
} from "../output/prepared-files.ts";
import { sealEpoch } from "../output/sealing.ts";
import { damaged, missing, taken } from "../output/sink-errors.ts";
import { compactionOf, layoutOf, type OutputOptions, outputOptionNames } from "../output/sink-options.ts";
import { type Layout, StagedRows } from "../output/staged-rows.ts";
import { tidy } from "../output/tidying.ts";
import { digestOf } from "./digest.ts";
import { errno, makeFolder, type NamingSystem, publish, remove, syncFolder, unlessMissing } from "./durable.ts";
import { fileSystemError } from "./errors.ts";
import { FolderStore } from "./folder-store.ts";
import { type OutputLayout, outputLayout } from "./output-layout.ts";
import { claimOutput } from "./owner-mark.ts";
import { twoFileSystems } from "./sink-errors.ts";
import { StagingFolder } from "./staging-folder.ts";

export interface FilesSinkOptions extends OutputOptions {
  /** A folder, made if it is missing, which belongs to this sink alone. */
  readonly path: string;
}

/** Files of a unit that are published at once. */
const publishedAtOnce = 8;

/**
 * Rows in files of a folder (protocol §9, Files): one or more for each epoch, stage and task, published whole by a hard link, and a manifest for each epoch.
 * `readRows` reads them.
 *
 * @throws UsageError for a wrong option
 */
export function createFilesSink(
  options: FilesSinkOptions,
  system?: NamingSystem,
): TwoPhaseCommitSink<unknown, PreparedFiles, PreparedFiles> {
  checkOptions("files.sink()", options, ["path", ...outputOptionNames]);
  if (typeof options.path === "string" && options.path !== "") return new FilesSink(options, system);
  throw new UsageError("invalid-options", "files.sink() needs a path", { wayOut: "Give the path of a folder." });
}

class FilesSink implements TwoPhaseCommitSink<unknown, PreparedFiles, PreparedFiles> {
  readonly #layout: OutputLayout;
  readonly #rows: Layout;
  readonly #system: NamingSystem | undefined;
  readonly #compaction: Compaction | undefined;
  readonly #age = new LedgerAge();

  constructor({ path, ...output }: FilesSinkOptions, system: NamingSystem | undefined) {
    this.#layout = outputLayout(path);
    this.#rows = layoutOf(output);
    this.#compaction = compactionOf(output);
    this.#system = system;
  }

  async open(owner: SinkOwner & { decided?: number }): Promise<void> {
    const { root, staging, manifests } = this.#layout;
    await this.#named("prepare the output", async () => {
      for (const folder of [root, staging, manifests]) await makeFolder(folder);
      await this.#checkOneFileSystem();
      await claimOutput(this.#layout, owner);
      await this.#age.check(owner, root, () => readdir(manifests));
    });
  }

  async begin(context: SinkContext): Promise<StagedRows<object>> {
    return new StagedRows(this.#rows, context, new StagingFolder(this.#layout, context));
  }

  async preCommit(transaction: Transaction): Promise<PreparedFiles | undefined> {
    const prepared = await this.#finish(transaction);
    if (prepared !== undefined) await this.#named("prepare rows", () => syncFolder(this.#layout.staging));
    return prepared;
  }

  /** Under names of the invocation's own; a manifest of its own names them. */
  async publish(transaction: Transaction): Promise<void> {
    const prepared = await this.#finish(transaction);
    if (prepared === undefined) return;
    const { root, staging } = this.#layout;
    const { context } = transaction as StagedRows<object>;
    await this.#named("publish rows", async () => {
      await forAll(outputsOf(prepared), publishedAtOnce, async ({ file, staged }) => {
        const final = join(root, file);
        await makeFolder(dirname(final));
        await publish(join(staging, staged), final, this.#system);
        await remove(join(staging, staged));
      });
      const text = manifestText({ epoch: context.epoch, files: prepared.files });
      await this.#store(context, context.epoch).create(directPath(context), [Buffer.from(text)]);
    });
  }

  async commit(context: EpochContext & { unit: PreparedFiles }): Promise<void> {
    const files = checkPrepared(context, context.unit);
    await this.#named("publish rows", async () => {
      await forAll(files, publishedAtOnce, async (file) => {
        const staged = join(this.#layout.staging, file.staged);
        await this.#publish(context, file, staged);
        await remove(staged);
      });
    });
  }

  async abort(prepared: PreparedFiles): Promise<void> {
    const files = outputsOf(prepared);
    await this.#named("delete staged rows", async () => {
      for (const { staged } of files) await remove(join(this.#layout.staging, staged));
    });
  }

  async seal(context: EpochContext & { units: readonly CommitUnit<PreparedFiles>[] }): Promise<void> {
    const files = context.units.flatMap(({ unit }) => checkPrepared(context, unit));
    await this.#named("write the manifest", async () => {
      await sealEpoch(this.#store(context, context.epoch), context, context.epoch, files);
    });
  }

  async sweep(owner: SinkOwner, garbage: Garbage): Promise<number> {
    const { staging } = this.#layout;
    return await this.#named("delete staged rows", async () => {
      const names = (await unlessMissing(readdir(staging))) ?? [];
      const old = names.filter((name) => {
        const entry = parseStagingEntry(name);
        return entry !== undefined && entry.owner === ownerName(owner) && garbage(entry);
      });
      for (const name of old) await remove(join(staging, name));
      return old.length;
    });
  }

  async tidy(owner: SinkOwner, time: { committed: number; now: number }): Promise<number> {
    if ((await unlessMissing(stat(this.#layout.manifests))) === undefined) return 0;
    return await this.#named("put files in order", () =>
      tidy(this.#store(owner, time.committed), this.#compaction, time),
    );
  }

  async close(): Promise<void> {}

  #store(owner: SinkOwner, epoch: number): FolderStore {
    return new FolderStore(this.#layout.root, { prefix: sealPrefix(owner, epoch), system: this.#system });
  }

  /** Gives the staged file its final name, unless that was done before: by a commit that did not come back, or by a zombie's. */
  async #publish(context: EpochContext, file: StagedOutput, staged: string): Promise<void> {
    const length = lengthOf(file);
    const size = (await unlessMissing(stat(staged)))?.size;
    if (size !== undefined && size !== length) throw damaged(context, staged);
    const final = join(this.#layout.root, file.file);
    const folder = dirname(final);
    if (folder !== this.#layout.root) await makeFolder(folder);
    const outcome = size === undefined ? undefined : await unlessMissing(publish(staged, final, this.#system));
    if (outcome === "published") return;
    const digest = await digestAt(final, length, file.offset);
    if (digest === "missing") {
      await this.#checkOneFileSystem([]);
      throw missing(context, staged, final);
    }
    if (digest !== file.digest) throw taken(context, final);
    // Whoever published it may have died before it was durable.
    await syncFolder(folder);
  }

  /** Files are whole and synced, and their names can be published; but the names may not survive yet. */
  async #finish(transaction: Transaction): Promise<PreparedFiles | undefined> {
    if (!(transaction instanceof StagedRows)) throw new TypeError("the transaction is not one of this sink");
    try {
      const prepared: PreparedFiles | undefined = await transaction.finish();
      const folders = prepared?.files.map(({ file }) => dirname(file));
      if (folders !== undefined) await this.#named("prepare rows", () => this.#checkOneFileSystem(folders));
      return prepared;
    } catch (error) {
      await transaction.discard();
      throw error;
    }
  }

  /** Publishing is a matter of names, which works within one file system only. @param folders below the output, which may not be there yet */
  async #checkOneFileSystem(folders: readonly string[] = []): Promise<void> {
    const { root, staging, manifests } = this.#layout;
    const { dev } = await stat(root);
    const below = new Set(folders.flatMap((folder) => pathsTo(folder)).map((path) => join(root, path)));
    for (const folder of [staging, manifests, ...below]) {
      const found = await unlessMissing(stat(folder));
      if (found !== undefined && found.dev !== dev) throw twoFileSystems(root, folder);
    }
  }

  async #named<T>(doing: string, work: () => Promise<T>): Promise<T> {
    const { root, staging } = this.#layout;
    try {
      return await work();
    } catch (error) {
      if (error instanceof EpochflowError) throw error;
      if (errno(error) === "EXDEV") throw twoFileSystems(root, staging);
      throw fileSystemError(error, doing, root);
    }
  }
}

/** `a/b/c` gives `a`, `a/b` and `a/b/c`. */
function pathsTo(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

async function digestAt(path: string, length: number, offset = 0): Promise<string | undefined> {
  const handle = await unlessMissing(open(path));
  if (handle === undefined) return "missing";
  try {
    if ((await handle.stat()).size !== length) return undefined;
    return await digestOf(handle, { offset, bytes: length - offset }, Buffer.allocUnsafe(1 << 20));
  } finally {
    await handle.close();
  }
}
