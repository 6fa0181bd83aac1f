import { randomUUID } from "node:crypto";
import { blockOf, indexEpochs, type ManifestFile, type ManifestSource, manifestText } from "../output/manifest.ts";
import type { SinkOwner } from "../output/names.ts";
import { manifestDiffers } from "../output/sink-errors.ts";
import type { OutputPlace } from "./output-place.ts";

/**
 * Writes the manifest of an epoch, from which on readers see it. Idempotent, also for a zombie whose epoch was rolled up long ago: it may bring a
 * manifest back, which readers do not take twice, and the next roll removes.
 *
 * @throws LossError `manifest-differs` if the epoch was sealed with other files
 */
export async function sealEpoch(
  place: OutputPlace,
  owner: SinkOwner,
  epoch: number,
  files: readonly ManifestFile[],
  blockEpochs = indexEpochs,
): Promise<void> {
  if (await place.bucket.head(place.indexKey(blockOf(epoch, blockEpochs)))) return;
  const key = place.manifestKey(epoch);
  const text = manifestText({ epoch, files });
  if ((await create(place, key, text)) === "created") return;
  const there = await place.textOf(key);
  if (there !== undefined && there !== text) throw manifestDiffers(place.bucket.urlOf(key), owner, epoch);
}

/**
 * Rolls manifests of complete blocks into indexes when `epoch` is sealed, all epochs below it being sealed; the block before its own is left as it is.
 * Returns the first epoch with which there may be more to roll. An index is created exclusively, and never written again; only when it is there do its
 * manifests go, so that a reader finds each epoch in one of the two at any time.
 */
export async function rollManifests(place: OutputPlace, epoch: number, blockEpochs = indexEpochs): Promise<number> {
  const end = blockOf(epoch, blockEpochs).first - blockEpochs;
  const single = (await place.listManifests()).filter(({ first, last }) => first === last && last < end);
  for (const sources of Map.groupBy(single, ({ first }) => Math.floor(first / blockEpochs)).values()) {
    const key = place.indexKey(blockOf(sources[0]!.first, blockEpochs));
    // Looked for after the listing: if another has begun to remove manifests, and the listing lacks some, its index is there.
    if (!(await place.bucket.head(key))) await createIndex(place, key, sources);
    await place.bucket.delete(sources.map(({ path }) => path));
  }
  return blockOf(epoch, blockEpochs).last + 1;
}

/** Not, if one of its manifests is gone meanwhile: another has rolled them up. */
async function createIndex(place: OutputPlace, key: string, sources: readonly ManifestSource[]): Promise<void> {
  const texts: string[] = [];
  for (const { path } of sources) {
    const text = await place.textOf(path);
    if (text === undefined) return;
    texts.push(text);
  }
  await create(place, key, texts.join(""));
}

async function create(place: OutputPlace, key: string, text: string): Promise<"created" | "exists"> {
  return await place.bucket.create(key, Buffer.from(text), { "epochflow-put": randomUUID() });
}
