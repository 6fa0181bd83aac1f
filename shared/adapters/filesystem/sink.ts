import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { EpochflowError, UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { CommitUnit, Garbage, SinkContext, Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import { ownerName, parseStagingEntry, type SinkOwner } from "../output/names.ts";
import { checkPrepared, checkStagedName, type EpochContext, type PreparedFile } from "../output/prepared-file.ts";
import { damaged, missing, taken } from "../output/sink-errors.ts";
import { digestOf } from "./digest.ts";
import { errno, makeFolder, type NamingSystem, publish, remove, syncFolder, unlessMissing } from "./durable.ts";
import { fileSystemError } from "./errors.ts";
import { type OutputLayout, outputLayout } from "./output-layout.ts";
import { claimOutput } from "./owner-mark.ts";
import { rollManifests, sealEpoch } from "./seal.ts";
import { twoFileSystems } from "./sink-errors.ts";
import { StagedFile } from "./staged-file.ts";

export interface FilesSinkOptions {
  /** A folder, made if it is missing, which belongs to this sink alone. */
  readonly path: string;
}

/**
 * Rows as JSON Lines in a folder (protocol §9, Files): a file for each epoch, stage and task, published whole by a hard link, and a manifest for each epoch.
 * `readRows` reads them.
 *
 * @throws UsageError for a wrong option
 */
export function createFilesSink(
  options: FilesSinkOptions,
  system?: NamingSystem,
): TwoPhaseCommitSink<unknown, PreparedFile, PreparedFile> {
  checkOptions("files.sink()", options, ["path"]);
  if (typeof options.path === "string" && options.path !== "") return new FilesSink(options.path, system);
  throw new UsageError("invalid-options", "files.sink() needs a path", { wayOut: "Give the path of a folder." });
}

class FilesSink implements TwoPhaseCommitSink<unknown, PreparedFile, PreparedFile> {
  readonly #layout: OutputLayout;
  readonly #system: NamingSystem | undefined;
  /** From this epoch on there may be manifests to roll up. */
  #rollFrom = 0;

  constructor(path: string, system: NamingSystem | undefined) {
    this.#layout = outputLayout(path);
    this.#system = system;
  }

  async open(owner: SinkOwner): Promise<void> {
    const { root, staging, manifests } = this.#layout;
    await this.#named("prepare the output", async () => {
      for (const folder of [root, staging, manifests]) await makeFolder(folder);
      await this.#checkOneFileSystem();
      await claimOutput(this.#layout, owner);
    });
  }

  async begin(context: SinkContext): Promise<StagedFile> {
    return new StagedFile(this.#layout, context);
  }

  async preCommit(transaction: Transaction): Promise<PreparedFile | undefined> {
    const prepared = await this.#finish(transaction);
    if (prepared !== undefined) await this.#named("prepare rows", () => syncFolder(this.#layout.staging));
    return prepared;
  }

  async commit(context: EpochContext & { unit: PreparedFile }): Promise<void> {
    const prepared = checkPrepared(context, context.unit);
    const staged = join(this.#layout.staging, prepared.staged);
    await this.#named("publish rows", async () => {
      await this.#publish(context, prepared, staged);
      await remove(staged);
    });
  }

  /** Under a name of the invocation's own, which no manifest names: readers look for it by its kind. */
  async publish(transaction: Transaction): Promise<void> {
    const prepared = await this.#finish(transaction);
    if (prepared === undefined) return;
    const { root, staging } = this.#layout;
    const staged = join(staging, prepared.staged);
    await this.#named("publish rows", async () => {
      await publish(staged, join(root, prepared.file), this.#system);
      await remove(staged);
    });
  }

  async abort(prepared: PreparedFile): Promise<void> {
    const staged = join(this.#layout.staging, checkStagedName(prepared));
    await this.#named("delete staged rows", () => remove(staged));
  }

  async seal(context: EpochContext & { units: readonly CommitUnit<PreparedFile>[] }): Promise<void> {
    const files = context.units.map(({ unit }) => checkPrepared(context, unit));
    await this.#named("write the manifest", async () => {
      await sealEpoch(this.#layout, context, context.epoch, files);
      if (context.epoch < this.#rollFrom) return;
      this.#rollFrom = await rollManifests(this.#layout, context, context.epoch);
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

  async close(): Promise<void> {}

  /** Gives the staged file its final name, unless that was done before: by a commit that did not come back, or by a zombie's. */
  async #publish(context: EpochContext, prepared: PreparedFile, staged: string): Promise<void> {
    const { root } = this.#layout;
    const size = (await unlessMissing(stat(staged)))?.size;
    if (size !== undefined && size !== prepared.bytes) throw damaged(context, staged);
    const final = join(root, prepared.file);
    const outcome = size === undefined ? undefined : await unlessMissing(publish(staged, final, this.#system));
    if (outcome === "published") return;
    const digest = await digestAt(final, prepared.bytes);
    if (digest === "missing") {
      await this.#checkOneFileSystem();
      throw missing(context, staged, final);
    }
    if (digest !== prepared.digest) throw taken(context, final);
    // Whoever published it may have died before it was durable.
    await syncFolder(root);
  }

  /** The file is whole and synced, and its name can be published; but the name may not survive yet. */
  async #finish(transaction: Transaction): Promise<PreparedFile | undefined> {
    if (!(transaction instanceof StagedFile)) throw new TypeError("the transaction is not one of this sink");
    try {
      const prepared = await transaction.finish();
      if (prepared !== undefined) await this.#named("prepare rows", () => this.#checkOneFileSystem());
      return prepared;
    } catch (error) {
      await transaction.discard();
      throw error;
    }
  }

  /** Publishing is a matter of names, which works within one file system only. */
  async #checkOneFileSystem(): Promise<void> {
    const { root, staging, manifests } = this.#layout;
    const { dev } = await stat(root);
    for (const folder of [staging, manifests]) {
      const below = await unlessMissing(stat(folder));
      if (below !== undefined && below.dev !== dev) throw twoFileSystems(root, folder);
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

async function digestAt(path: string, bytes: number): Promise<string | undefined> {
  const handle = await unlessMissing(open(path));
  if (handle === undefined) return "missing";
  try {
    return await digestOf(handle, bytes, Buffer.allocUnsafe(1 << 20));
  } finally {
    await handle.close();
  }
}
