import {
  isRolledUp,
  type Manifest,
  type ManifestSource,
  manifestDamaged,
  manifestsAmong,
  parseManifest,
} from "./manifest.ts";
import type { OutputStore } from "./store.ts";

const lineFeed = 10;

/** The manifests of all sealed epochs with output, in the order of epochs. Each epoch comes once. @param after epochs up to this one are left out */
export async function* manifestsOf(store: OutputStore, after = -1): AsyncGenerator<Manifest> {
  let epoch = after;
  for (let whole = false; !whole; ) {
    whole = true;
    for (const source of manifestsAmong(await listManifests(store))) {
      if (source.last <= epoch) continue;
      const manifests = await readSource(store, source);
      // It was rolled up since it was listed: list again.
      whole = manifests !== undefined;
      if (manifests === undefined) break;
      for await (const manifest of manifests) {
        if (manifest.epoch <= epoch) continue;
        epoch = manifest.epoch;
        yield manifest;
      }
    }
  }
}

/**
 * Paths of all manifests, for readers. A listing takes its time, and files come and go meanwhile: it may pass by the place of an index before this is made, and by those of
 * its manifests after they went. Then a listing that begins afterwards finds the index.
 */
export async function listManifests(store: OutputStore): Promise<string[]> {
  for (let paths = await store.manifests(); ; ) {
    const listed = new Set(paths);
    const again = await store.manifests();
    if (again.every((path) => listed.has(path) || !isRolledUp(path))) return paths;
    paths = again;
  }
}

/** Somebody has done meanwhile what was to be done: what is missing stands elsewhere. */
export class Overtaken extends Error {}

/** The manifests of several files, one after the other. @throws Overtaken if one of them is not there */
export async function* manifestsIn(store: OutputStore, sources: Iterable<ManifestSource>): AsyncGenerator<Manifest> {
  for (const source of sources) {
    const manifests = await readSource(store, source);
    if (manifests === undefined) throw new Overtaken();
    yield* manifests;
  }
}

/** The manifests of one file, in order; undefined: it is not there. They are read as they are taken: an index of many files may be larger than memory. */
export async function readSource(
  store: OutputStore,
  source: ManifestSource,
): Promise<AsyncGenerator<Manifest> | undefined> {
  const chunks = await store.read(source.path);
  return chunks && parsed(chunks, source, store.urlOf(source.path));
}

async function* parsed(
  chunks: AsyncIterable<Buffer>,
  { first, last }: EpochBounds,
  url: string,
): AsyncGenerator<Manifest> {
  let empty = true;
  for await (const line of linesOf(chunks)) {
    const manifest = line.at(-1) === lineFeed ? parseManifest(line.toString()) : undefined;
    if (manifest === undefined || manifest.epoch < first || manifest.epoch > last) throw manifestDamaged(url);
    empty = false;
    yield manifest;
  }
  if (empty) throw manifestDamaged(url);
}

type EpochBounds = Pick<ManifestSource, "first" | "last">;

/** Lines with their ends, but for a last one that has none. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end + 1)]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(Buffer.from(chunk.subarray(start)));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
