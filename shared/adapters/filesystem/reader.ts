import type { Manifest } from "../output/manifest.ts";
import { manifestsOf } from "../output/manifests.ts";
import { checkReadOptions, chunksIn, type EpochRows, epochsIn, type ReadOptions, rowsIn } from "../output/reading.ts";
import { FolderStore } from "./folder-store.ts";

/**
 * The rows of a files sink, each as it is in its file, without its line end: JSON texts, lines of text, rows of CSV without the line of their columns' names. Of whole
 * epochs only, or, under a weaker guarantee, of whole tasks; in the order of epochs, folders, tasks and rows. Safe while the pipeline runs: epochs that are sealed meanwhile may be seen or not.
 *
 * @param path the sink's output folder
 * @throws UsageError if the folder is not the output of a files sink; LossError if a file is missing or damaged, before any row of it is given
 */
export async function* readRows(path: string, options: ReadOptions = {}): AsyncGenerator<string> {
  yield* rowsIn(new FolderStore(path), checkReadOptions("readRows()", options));
}

/** What `readRows` reads, by epochs: who has worked up one goes on with `{ after: epoch }`, also after the files were merged. */
export async function* readEpochs(path: string, options: ReadOptions = {}): AsyncGenerator<EpochRows> {
  yield* epochsIn(new FolderStore(path), checkReadOptions("readEpochs()", options));
}

/** What `readRows` reads, many rows at once: each chunk holds whole rows, their ends included, and before those of CSV their columns' names. */
export async function* readChunks(path: string, options: ReadOptions = {}): AsyncGenerator<Buffer> {
  yield* chunksIn(new FolderStore(path), checkReadOptions("readChunks()", options));
}

/** The manifests of all sealed epochs with output, in the order of epochs. Each epoch comes once. */
export async function* readManifests(path: string, options: ReadOptions = {}): AsyncGenerator<Manifest> {
  yield* manifestsOf(new FolderStore(path), checkReadOptions("readManifests()", options));
}
