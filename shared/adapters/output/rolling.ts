import { blockOf, indexPath, type ManifestSource, manifestLine, manifestsAmong } from "./manifest.ts";
import { readSource } from "./manifests.ts";
import type { WritableStore } from "./store.ts";

/**
 * Rolls the manifests of complete blocks into indexes, all epochs up to `committed` being sealed; the block before the one of `committed` is left as it is.
 * An index is created exclusively, and never written again; only when it is there do its manifests go, so that a reader finds each epoch in one of the
 * two at any time.
 */
export async function rollManifests(store: WritableStore, committed: number, blockEpochs: number): Promise<void> {
  const paths = await store.manifests();
  const due = manifestsAmong(paths).filter(
    ({ kind, first }) => kind !== "block" && isDue(first, committed, blockEpochs),
  );
  for (const sources of Map.groupBy(due, ({ first }) => Math.floor(first / blockEpochs)).values()) {
    const path = indexPath(blockOf(sources[0]!.first, blockEpochs));
    // Looked for after the listing: if another has begun to remove manifests, and the listing lacks some, its index is there.
    if ((await store.modifiedAt(path)) !== undefined) continue;
    await createIndex(store, path, sources);
  }
}

/** Whether an epoch is in a block whose time has come. */
export function isDue(epoch: number, committed: number, blockEpochs: number): boolean {
  return epoch < blockOf(committed, blockEpochs).first - blockEpochs;
}

async function createIndex(store: WritableStore, path: string, sources: readonly ManifestSource[]): Promise<void> {
  try {
    await store.create(path, lines(store, sources));
  } catch (error) {
    // One of its manifests is gone meanwhile: another has rolled them up.
    if (!(error instanceof Overtaken)) throw error;
  }
}

/** Somebody else has done what was to be done. */
export class Overtaken extends Error {}

/** Each epoch once, as readers see it. */
async function* lines(store: WritableStore, sources: readonly ManifestSource[]): AsyncGenerator<Buffer> {
  let epoch = -1;
  for (const source of sources) {
    if (source.last <= epoch) continue;
    const manifests = await readSource(store, source);
    if (manifests === undefined) throw new Overtaken();
    for await (const manifest of manifests) {
      if (manifest.epoch <= epoch) continue;
      epoch = manifest.epoch;
      yield Buffer.from(manifestLine(manifest));
    }
  }
}
