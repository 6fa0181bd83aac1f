import { directAmong, type Manifest, type ManifestFile, type ManifestSource } from "./manifest.ts";
import { listManifests, manifestsIn, manifestsOf, Overtaken } from "./manifests.ts";
import type { OutputStore } from "./store.ts";

/**
 * The manifests of all epochs, and in them what tasks have published without a second phase, where it belongs: the guarantee of a pipeline may have changed, even within an epoch.
 * What is published so comes first in its epoch.
 *
 * @param after epochs up to this one are left out
 */
export function outputOf(store: OutputStore, after: number): AsyncGenerator<Manifest> {
  return byEpoch([directOf(store, after), manifestsOf(store, after)]);
}

async function* directOf(store: OutputStore, after: number): AsyncGenerator<Manifest> {
  let epoch = after;
  for (let whole = false; !whole; ) {
    const sources = directAmong(await listManifests(store)).filter(({ last }) => last > epoch);
    try {
      for await (const manifest of directIn(store, sources)) {
        if (manifest.epoch <= epoch) continue;
        epoch = manifest.epoch;
        yield manifest;
      }
      whole = true;
    } catch (error) {
      // One was rolled up since it was listed: list again.
      if (!(error instanceof Overtaken)) throw error;
    }
  }
}

/** What is in an index, and what is beside it: until it is removed it is the same; later it is what a zombie has published since. @throws Overtaken */
export function directIn(store: OutputStore, sources: readonly ManifestSource[]): AsyncGenerator<Manifest> {
  const { block = [], epoch = [] } = Object.groupBy(sources, ({ kind }) => kind);
  return byEpoch([manifestsIn(store, block), singlesIn(store, epoch)]);
}

/** Those of an epoch at once, for there is one of each task. */
async function* singlesIn(store: OutputStore, sources: readonly ManifestSource[]): AsyncGenerator<Manifest> {
  for (const ofEpoch of Map.groupBy(sources, ({ first }) => first).values()) {
    const read = await Promise.all(ofEpoch.map((source) => Array.fromAsync(manifestsIn(store, [source]))));
    yield* read.flat();
  }
}

/** Each of them gives manifests in the order of epochs; those of an epoch become one, in which each file comes once. */
async function* byEpoch(streams: readonly AsyncGenerator<Manifest>[]): AsyncGenerator<Manifest> {
  const heads: (Manifest | undefined)[] = [];
  const step = async (at: number) => {
    const { value, done } = await streams[at]!.next();
    heads[at] = done ? undefined : value;
  };
  try {
    for (const at of streams.keys()) await step(at);
    for (;;) {
      const epoch = Math.min(...heads.map((head) => head?.epoch ?? Number.POSITIVE_INFINITY));
      if (epoch === Number.POSITIVE_INFINITY) return;
      const files = new Map<string, ManifestFile>();
      for (const at of streams.keys())
        for (; heads[at]?.epoch === epoch; await step(at))
          for (const one of heads[at].files) files.set(`${one.file}@${one.offset ?? 0}`, one);
      yield { epoch, files: [...files.values()] };
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
  }
}
