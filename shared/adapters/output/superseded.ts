import { directAmong, type ManifestSource, manifestsAmong, plansAmong, runPlanPath } from "./manifest.ts";
import { manifestsIn, readSource } from "./manifests.ts";
import { baseOf, invocationOfDirect, isMergedName } from "./names.ts";
import type { WritableStore } from "./store.ts";

/** A run or an index, and what it says of its epochs. */
interface Superseding {
  readonly source: ManifestSource;
  readonly last: number;
  readonly files: ReadonlySet<string>;
}

/**
 * Removes manifests whose epochs stand in a run or an index, and the files that these have merged into others. Whoever has read such a manifest may still be about to read
 * its files: so they stay for a time. Of what readers find in the meantime this changes nothing: they take what covers more.
 *
 * @param graceMs milliseconds that replaced files stay
 * @param isRolled whether an epoch is in a block that has an index, or is to have one
 * @returns how many files went
 */
export async function removeSuperseded(
  store: WritableStore,
  { now, graceMs, isRolled }: { now: number; graceMs: number; isRolled(epoch: number): boolean },
): Promise<number> {
  const paths = await store.manifests();
  const sources = manifestsAmong(paths);
  let removed = 0;
  for (const source of sources) {
    // An index that somebody made who did not see the run may name the files that the run has replaced. So in its block the index alone counts.
    if (source.kind === "epoch" || (source.kind === "run" && isRolled(source.first))) continue;
    const within = (first: number) => first >= source.first && first <= source.last;
    const below = sources.filter(
      ({ kind, first }) => within(first) && (kind === "epoch" || (kind === "run" && source.kind === "block")),
    );
    const plans = plansAmong(paths).filter(within);
    if (below.length === 0 && plans.length === 0) continue;
    const found = await lookInto(store, source);
    if (found === undefined) continue;
    await store.remove(plans.filter((first) => first <= found.last).map(runPlanPath));
    const old = below.filter(({ first }) => first <= found.last);
    if (old.length > 0 && (await isOver(store, found, now, graceMs))) removed += await removeAll(store, found, old);
  }
  return removed;
}

/** Undefined: it is in an index by now, and gone. */
async function lookInto(store: WritableStore, source: ManifestSource): Promise<Superseding | undefined> {
  const manifests = await readSource(store, source);
  if (manifests === undefined) return undefined;
  const files = new Set<string>();
  let last = source.kind === "block" ? source.last : source.first;
  for await (const manifest of manifests) {
    last = Math.max(last, manifest.epoch);
    for (const { file } of manifest.files) files.add(file);
  }
  return { source, last, files };
}

/** Where nothing was merged, files are the same as before, and nobody misses the manifests. */
async function isOver(
  store: WritableStore,
  { source, files }: Superseding,
  now: number,
  graceMs: number,
): Promise<boolean> {
  if (![...files].some((file) => isMergedName(baseOf(file)))) return true;
  const madeAt = await store.modifiedAt(source.path);
  return madeAt !== undefined && now - madeAt >= graceMs;
}

/** A manifest goes last: until then it tells the next who comes which files are to go. */
async function removeAll(
  store: WritableStore,
  { files }: Superseding,
  old: readonly ManifestSource[],
): Promise<number> {
  let removed = 0;
  for (const source of old) {
    const manifests = await readSource(store, source);
    if (manifests === undefined) continue;
    const replaced: string[] = [];
    for await (const manifest of manifests)
      for (const { file } of manifest.files) if (!files.has(file)) replaced.push(file);
    await store.remove(replaced);
    await store.remove([source.path]);
    removed += replaced.length;
  }
  return removed;
}

/**
 * Removes manifests of what was published without a second phase that stand in an index. One of the index's epochs that does not was published when the index was made
 * already, by a zombie.
 */
export async function removeRolledDirect(store: WritableStore): Promise<void> {
  const sources = directAmong(await store.manifests());
  for (const index of sources.filter(({ kind }) => kind === "block")) {
    const within = sources.filter(({ kind, first }) => kind === "epoch" && first >= index.first && first <= index.last);
    if (within.length === 0) continue;
    const rolled = new Set<string>();
    for await (const { files } of manifestsIn(store, [index]))
      for (const { file } of files) rolled.add(invocationOfDirect(baseOf(file)));
    await store.remove(within.map(({ path }) => path).filter((path) => rolled.has(invocationOfDirect(baseOf(path)))));
  }
}
