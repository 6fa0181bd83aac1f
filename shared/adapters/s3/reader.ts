import type { Manifest } from "../output/manifest.ts";
import { manifestsOf } from "../output/manifests.ts";
import { checkReadOptions, chunksIn, type EpochRows, epochsIn, type ReadOptions, rowsIn } from "../output/reading.ts";
import { BucketStore } from "./bucket-store.ts";
import { OutputPlace, type S3PlaceOptions } from "./output-place.ts";

/**
 * The rows of a files sink in a bucket, each as it is in its file, without its line end: JSON texts, lines of text, rows of CSV without the line of their columns' names. Of
 * whole epochs only, or, under a weaker guarantee, of whole tasks; in the order of epochs, folders, tasks and rows. Safe while the pipeline runs: epochs that are sealed meanwhile may be seen or not.
 *
 * @throws UsageError if the place is not the output of a files sink; LossError if an object is missing or too short, before any row of it is given, or if it has other
 * bytes, after its rows
 */
export async function* readRows(place: S3PlaceOptions, options: ReadOptions = {}): AsyncGenerator<string> {
  yield* rowsIn(storeAt("readRows()", place), checkReadOptions("readRows()", options));
}

/** What `readRows` reads, by epochs: who has worked up one goes on with `{ after: epoch }`, also after the files were merged. */
export async function* readEpochs(place: S3PlaceOptions, options: ReadOptions = {}): AsyncGenerator<EpochRows> {
  yield* epochsIn(storeAt("readEpochs()", place), checkReadOptions("readEpochs()", options));
}

/** What `readRows` reads, many rows at once: each chunk holds whole rows, their ends included, and before those of CSV their columns' names. */
export async function* readChunks(place: S3PlaceOptions, options: ReadOptions = {}): AsyncGenerator<Buffer> {
  yield* chunksIn(storeAt("readChunks()", place), checkReadOptions("readChunks()", options));
}

/** The manifests of all sealed epochs with output, in the order of epochs. Each epoch comes once. */
export async function* readManifests(place: S3PlaceOptions, options: ReadOptions = {}): AsyncGenerator<Manifest> {
  yield* manifestsOf(storeAt("readManifests()", place), checkReadOptions("readManifests()", options));
}

const storeAt = (what: string, place: S3PlaceOptions) => new BucketStore(new OutputPlace(what, place));
