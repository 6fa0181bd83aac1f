import { readFile, stat } from "node:fs/promises";
import { blockOf, indexEpochs, type ManifestFile, type ManifestSource, manifestText } from "../output/manifest.ts";
import { type SinkOwner, sealPrefix } from "../output/names.ts";
import { manifestDiffers } from "../output/sink-errors.ts";
import { createWhole, remove, syncFolder, unlessMissing } from "./durable.ts";
import { indexPath, listManifests, manifestPath } from "./manifest.ts";
import type { OutputLayout } from "./output-layout.ts";

/**
 * Writes the manifest of an epoch, from which on readers see it; and rolls old ones up. Idempotent, also for a zombie whose epoch was rolled up long
 * ago: it may bring a manifest back, which readers do not take twice, and the next roll removes.
 *
 * @throws LossError `manifest-differs` if the epoch was sealed with other files
 */
export async function sealEpoch(
  layout: OutputLayout,
  owner: SinkOwner,
  epoch: number,
  files: readonly ManifestFile[],
  blockEpochs = indexEpochs,
): Promise<void> {
  if (await exists(indexPath(layout, blockOf(epoch, blockEpochs)))) return;
  const path = manifestPath(layout, epoch);
  const text = manifestText({ epoch, files });
  const temporary = { folder: layout.staging, prefix: sealPrefix(owner, epoch) };
  if ((await createWhole(path, text, temporary)) === "published") return;
  const there = await unlessMissing(readFile(path, "utf8"));
  if (there === undefined || there === text) return;
  throw manifestDiffers(path, owner, epoch);
}

/**
 * Rolls manifests of complete blocks into index files when `epoch` is sealed, all epochs below it being sealed; the block before its own is left as it
 * is. Returns the first epoch with which there may be more to roll.
 * An index is created exclusively, and never written again; only when it is there do its manifests go, so that a reader finds each epoch in
 * one of the two at any time.
 */
export async function rollManifests(
  layout: OutputLayout,
  owner: SinkOwner,
  epoch: number,
  blockEpochs = indexEpochs,
): Promise<number> {
  const end = blockOf(epoch, blockEpochs).first - blockEpochs;
  const single = (await listManifests(layout)).filter(({ first, last }) => first === last && last < end);
  const temporary = { folder: layout.staging, prefix: sealPrefix(owner, epoch) };
  for (const sources of Map.groupBy(single, ({ first }) => Math.floor(first / blockEpochs)).values()) {
    const path = indexPath(layout, blockOf(sources[0]!.first, blockEpochs));
    // Looked for after the listing: if another has begun to remove manifests, and the listing lacks some, its index is there.
    if (!(await exists(path))) await createWhole(path, await concatenate(sources), temporary);
    for (const source of sources) await remove(source.path);
  }
  if (single.length > 0) await syncFolder(layout.manifests);
  return blockOf(epoch, blockEpochs).last + 1;
}

async function concatenate(sources: readonly ManifestSource[]): Promise<string> {
  const texts: string[] = [];
  for (const { path } of sources) texts.push(await readFile(path, "utf8"));
  return texts.join("");
}

async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined;
}
