import type { Manifest } from "./manifest.ts";
import { epochOfDirect } from "./names.ts";

/** An epoch's output: files that were published directly, by name, and those that its manifest names. */
export interface EpochFiles extends Manifest {
  readonly direct: readonly string[];
}

/**
 * Files that were published without a manifest, put in where they belong: the guarantee of a pipeline may have changed, even within an epoch.
 *
 * @param names of which the direct files are picked
 * @param manifests in the order of epochs
 */
export async function* inOrder(
  names: readonly string[],
  manifests: AsyncIterable<Manifest>,
): AsyncGenerator<EpochFiles> {
  const found = names.flatMap((name) => {
    const epoch = epochOfDirect(name);
    return epoch === undefined ? [] : [{ name, epoch }];
  });
  const groups = [...Map.groupBy(found, ({ epoch }) => epoch)].sort(([one], [other]) => one - other);
  const waiting = groups.map(([epoch, files]) => ({ epoch, files: [], direct: files.map(({ name }) => name).sort() }));
  for await (const manifest of manifests) {
    while (waiting[0] !== undefined && waiting[0].epoch < manifest.epoch) yield waiting.shift()!;
    const here = waiting[0]?.epoch === manifest.epoch ? waiting.shift() : undefined;
    yield { ...manifest, direct: here?.direct ?? [] };
  }
  yield* waiting;
}
