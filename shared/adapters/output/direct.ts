import { directAmong, type Manifest, type ManifestFile, type ManifestSource } from "./manifest.ts";
import { manifestsOf, readSource } from "./manifests.ts";
import type { OutputStore } from "./store.ts";

/**
 * The manifests of all epochs, and in them what tasks have published without a second phase, where it belongs: the guarantee of a pipeline may have changed, even within an epoch.
 * What is published so comes first in its epoch.
 *
 * @param after epochs up to this one are left out
 */
export async function* outputOf(store: OutputStore, after: number): AsyncGenerator<Manifest> {
  const direct = directAmong(await store.manifests());
  const waiting = [...direct.keys()].filter((epoch) => epoch > after).sort((one, other) => one - other);
  const filesOf = (epoch: number) => directFiles(store, epoch, direct.get(epoch)!);
  for await (const manifest of manifestsOf(store, after)) {
    while (waiting[0] !== undefined && waiting[0] < manifest.epoch) {
      const epoch = waiting.shift()!;
      yield { epoch, files: await filesOf(epoch) };
    }
    const here = waiting[0] === manifest.epoch ? await filesOf(waiting.shift()!) : [];
    yield { epoch: manifest.epoch, files: [...here, ...manifest.files] };
  }
  for (const epoch of waiting) yield { epoch, files: await filesOf(epoch) };
}

async function directFiles(store: OutputStore, epoch: number, paths: readonly string[]): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const path of paths) {
    const source: ManifestSource = { kind: "epoch", path, first: epoch, last: epoch };
    for await (const manifest of (await readSource(store, source)) ?? []) files.push(...manifest.files);
  }
  return files;
}
