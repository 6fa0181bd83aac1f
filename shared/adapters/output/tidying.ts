import { type Compaction, compact } from "./compaction.ts";
import { blockOf, indexEpochs, indexPath, manifestsAmong } from "./manifest.ts";
import { isDue, rollManifests } from "./rolling.ts";
import type { WritableStore } from "./store.ts";
import { removeRolledDirect, removeSuperseded } from "./superseded.ts";

/** For outputs whose files are merged no longer, but were lately. */
const defaultGraceMs = 3_600_000;

/**
 * Puts an output in order, without changing what readers find: merges small files, rolls up old manifests, and removes what neither manifests nor readers need any more.
 * It may be ended at any moment, and done by several at once. In this order: an index must not be made beside a run that is planned.
 *
 * @param compaction undefined: files stay as they are
 * @param time `now` was read before `committed` was, so that a run that is old enough to be relied on is older than what is known of its block
 * @returns how many files went
 */
export async function tidy(
  store: WritableStore,
  compaction: Compaction | undefined,
  { committed, now, blockEpochs = indexEpochs }: { committed: number; now: number; blockEpochs?: number },
): Promise<number> {
  await compact(store, compaction, { committed, now, blockEpochs });
  await rollManifests(store, committed, blockEpochs);
  await removeRolledDirect(store);
  const blocks = new Set(manifestsAmong(await store.manifests()).map(({ path }) => path));
  return await removeSuperseded(store, {
    now,
    graceMs: compaction?.graceMs ?? defaultGraceMs,
    isRolled: (epoch) => isDue(epoch, committed, blockEpochs) || blocks.has(indexPath(blockOf(epoch, blockEpochs))),
  });
}
