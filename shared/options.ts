import { distance } from "fastest-levenshtein";
import { UsageError } from "./errors.ts";

/**
 * The candidate that a mistyped name most likely means: the closest by edit distance, case aside, if no more than a third of the
 * name, rounded up, differs, and not all of it, or else the only one that starts with it. Undefined where nothing is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  const known = [...candidates];
  const ranked = known.map((candidate) => ({ candidate, edits: distance(wanted, candidate.toLowerCase()) }));
  ranked.sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  const most = Math.min(Math.ceil(wanted.length / 3), wanted.length - 1);
  if (best !== undefined && best.edits <= most) return best.candidate;
  const longer = wanted === "" ? [] : known.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  return longer.length === 1 ? longer[0] : undefined;
}

/** ` Did you mean "x"?`, or nothing: the tail of a message about an unknown name. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const candidate = nearest(name, candidates);
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/**
 * Refuses an options object that has a key which is not among `known`. `what` names the object in the message: `files.source()`.
 *
 * @throws UsageError `unknown-option`, naming the nearest known key; `invalid-options` if it is not a plain object.
 */
export function checkOptions(what: string, given: object, known: readonly string[]): void {
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new UsageError("invalid-options", `${what} takes an options object`, {
      wayOut: `Known: ${known.join(", ")}.`,
    });
  }
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    throw new UsageError("unknown-option", `${what} has no option "${key}".${didYouMean(key, known)}`, {
      wayOut: `Known options: ${known.join(", ")}.`,
    });
  }
}
