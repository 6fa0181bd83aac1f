import { blockOf, indexEpochs, indexPath, type ManifestFile, manifestPath, manifestText } from "./manifest.ts";
import type { SinkOwner } from "./names.ts";
import { manifestDiffers } from "./sink-errors.ts";
import type { WritableStore } from "./store.ts";

/**
 * Writes the manifest of an epoch, from which on readers see it. Idempotent, also for a zombie whose epoch was rolled up long ago: it may bring a
 * manifest back, which readers do not take twice, and the next tidying removes.
 *
 * @throws LossError `manifest-differs` if the epoch was sealed with other files
 */
export async function sealEpoch(
  store: WritableStore,
  owner: SinkOwner,
  epoch: number,
  files: readonly ManifestFile[],
  blockEpochs = indexEpochs,
): Promise<void> {
  if ((await store.modifiedAt(indexPath(blockOf(epoch, blockEpochs)))) !== undefined) return;
  const path = manifestPath(epoch);
  const text = manifestText({ epoch, files });
  if ((await store.create(path, [Buffer.from(text)])) === "created") return;
  const there = await textOf(store, path);
  if (there !== undefined && there !== text) throw manifestDiffers(store.urlOf(path), owner, epoch);
}

/** Undefined: there is no such file. */
export async function textOf(store: WritableStore, path: string): Promise<string | undefined> {
  const chunks = await store.read(path);
  return chunks && Buffer.concat(await Array.fromAsync(chunks)).toString("utf8");
}
