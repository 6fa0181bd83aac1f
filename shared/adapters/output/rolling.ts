import { directIn } from "./direct.ts";
import {
  blockOf,
  directAmong,
  directIndexPath,
  indexPath,
  type Manifest,
  type ManifestSource,
  manifestLine,
  manifestsAmong,
} from "./manifest.ts";
import { manifestsIn, Overtaken } from "./manifests.ts";
import type { WritableStore } from "./store.ts";

/**
 * Rolls the manifests of complete blocks into indexes, all epochs up to `committed` being sealed; the block before the one of `committed` is left as it is.
 * An index is created exclusively, and never written again; only when it is there do its manifests go, so that a reader finds each epoch in one of the
 * two at any time. Those of tasks that publish without a second phase have indexes of their own: one that comes when its block has an index, from a zombie, stays beside it.
 */
export async function rollManifests(store: WritableStore, committed: number, blockEpochs: number): Promise<void> {
  const paths = await store.manifests();
  const kinds = [
    { sources: manifestsAmong(paths), pathOf: indexPath, merged: eachEpochOnce },
    { sources: directAmong(paths), pathOf: directIndexPath, merged: directIn },
  ];
  for (const { sources, pathOf, merged } of kinds) {
    const due = sources.filter(({ kind, first }) => kind !== "block" && isDue(first, committed, blockEpochs));
    for (const inBlock of Map.groupBy(due, ({ first }) => Math.floor(first / blockEpochs)).values()) {
      const path = pathOf(blockOf(inBlock[0]!.first, blockEpochs));
      // Looked for after the listing: if another has begun to remove manifests, and the listing lacks some, its index is there.
      if ((await store.modifiedAt(path)) === undefined) await createIndex(store, path, merged(store, inBlock));
    }
  }
}

/** Whether an epoch is in a block whose time has come. */
export function isDue(epoch: number, committed: number, blockEpochs: number): boolean {
  return epoch < blockOf(committed, blockEpochs).first - blockEpochs;
}

async function createIndex(store: WritableStore, path: string, manifests: AsyncIterable<Manifest>): Promise<void> {
  try {
    await store.create(path, linesOf(manifests));
  } catch (error) {
    // One of its manifests is gone meanwhile: another has rolled them up.
    if (!(error instanceof Overtaken)) throw error;
  }
}

async function* linesOf(manifests: AsyncIterable<Manifest>): AsyncGenerator<Buffer> {
  for await (const manifest of manifests) yield Buffer.from(manifestLine(manifest));
}

/** As readers see it: of what is in several sources, what covers more comes first, and counts. */
async function* eachEpochOnce(store: WritableStore, sources: readonly ManifestSource[]): AsyncGenerator<Manifest> {
  let epoch = -1;
  for (const source of sources) {
    if (source.last <= epoch) continue;
    for await (const manifest of manifestsIn(store, [source])) {
      if (manifest.epoch <= epoch) continue;
      epoch = manifest.epoch;
      yield manifest;
    }
  }
}
