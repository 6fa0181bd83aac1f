import type { Link } from "./link.ts";
import type { GroupRange } from "./stage-state.ts";

/*
 * When the objects of a chain are written anew, as one. The deltas of a chain are tiers, as in a log-structured merge tree (O'Neil et al., 1996) or in the logarithmic
 * method (Bentley and Saxe, 1980): a new delta takes in those before it that are of about its size or smaller. So each delta in a chain outweighs all that
 * come later together: of n times the first change there are about log n; and a change that is written again gets into a delta half as large again at
 * least: so it is written about log n times. The base takes part only when the chain, with what changed, would be about twice what is alive of the base: reading a chain costs at
 * most about twice the state; and what the base costs is paid for by changes, and by windows that are gone, of half its size or more.
 *
 * Key groups that are written to alike would all come to that in the same epoch. So the line is drawn a little differently for each span of them, and each size.
 */

/** Key groups are compacted in spans, whose groups have the same chain, unless tasks have cut a span: so a checkpoint, which names chains, stays small. */
const spans = 16;

/** The spans of key groups `[from, to)`, as far as they are in it. */
export function spansOf({ from, to }: GroupRange, keyGroups: number): GroupRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (let group = from; group < to; group++) {
    if (group > from && spanOf(group, keyGroups) === spanOf(group - 1, keyGroups)) ranges.at(-1)!.to = group + 1;
    else ranges.push({ from: group, to: group + 1 });
  }
  return ranges;
}

function spanOf(group: number, keyGroups: number): number {
  return Math.floor((group * Math.min(spans, keyGroups)) / keyGroups);
}

/** How many of the last objects of its chain a new one takes in; all of them: it becomes the base. */
export function compacted(span: GroupRange, chains: readonly (readonly Link[])[], changeBytes: number): number {
  const sizes = chains[0]!.map((_, at) => sum(chains, (chain) => chain[at]!.bytes));
  if (sizes.length === 0) return 0;
  const alive = sum(chains, ([base]) => base!.bytesAlive);
  const together = sizes.reduce((total, size) => total + size, changeBytes);
  if (together > alive * (1.5 + 0.5 * luck(span.from, sizes[0]!))) return sizes.length;
  let taken = 0;
  let later = changeBytes;
  for (let at = sizes.length - 1; at > 0; at--) {
    const size = sizes[at]!;
    if (size <= later * (1 + luck(span.from, size))) taken = sizes.length - at;
    later += size;
  }
  return taken;
}

function sum(chains: readonly (readonly Link[])[], of: (chain: readonly Link[]) => number): number {
  let total = 0;
  for (const chain of chains) total += of(chain);
  return total;
}

/** From 0 to 1, evenly, and always the same for the same. */
function luck(group: number, bytes: number): number {
  let mixed = Math.imul(group + 1, 0x9e3779b1) ^ Math.imul(bytes + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
