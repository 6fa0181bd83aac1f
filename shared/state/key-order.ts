import { keyGroupOf } from "./key-codec.ts";
import type { KeyColumn } from "./key-table.ts";

/** Numbers of keys, sorted by key group: those of group g are `order[starts[g], starts[g + 1])`. */
export interface KeyOrder {
  readonly order: Int32Array;
  readonly starts: Int32Array;
}

/** Groups the keys with these numbers, all if none are given, keeping their order within a group. A counting sort. */
export function byGroup(keys: KeyColumn, keyGroups: number, numbers?: ArrayLike<number>): KeyOrder {
  const count = numbers?.length ?? keys.count;
  const groups = new Uint32Array(count);
  const starts = new Int32Array(keyGroups + 1);
  for (let index = 0; index < count; index++) {
    const group = keyGroupOf(keys.hashes[numbers === undefined ? index : numbers[index]!]!, keyGroups);
    groups[index] = group;
    starts[group + 1]!++;
  }
  for (let group = 0; group < keyGroups; group++) starts[group + 1]! += starts[group]!;
  const next = starts.slice();
  const order = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    order[next[groups[index]!]!++] = numbers === undefined ? index : numbers[index]!;
  }
  return { order, starts };
}

/** Sorted by (key group, key bytes): the order of output and of snapshots, whatever order the keys came in (I6). */
export function byGroupAndKey(keys: KeyColumn, keyGroups: number, numbers?: ArrayLike<number>): KeyOrder {
  const sorted = byGroup(keys, keyGroups, numbers);
  for (let group = 0; group < keyGroups; group++) {
    sortByBytes(keys, sorted.order.subarray(sorted.starts[group], sorted.starts[group + 1]), 0);
  }
  return sorted;
}

const wordBytes = 4;
const deepestWord = 64;
const mostRanks = 2 ** 21;

/**
 * Sorts by the next four bytes and, where these are equal, by what follows. Four bytes and the place among the others make one
 * double of 53 bits, which the engine sorts without a call per comparison.
 */
function sortByBytes(keys: KeyColumn, numbers: Int32Array, depth: number): void {
  const count = numbers.length;
  if (count < 2) return;
  if (count <= 8 || depth > deepestWord || count > mostRanks) {
    numbers.sort((a, b) => compareKeys(keys, a, b));
    return;
  }
  const ranks = new Float64Array(count);
  for (let index = 0; index < count; index++) ranks[index] = word(keys, numbers[index]!, depth) * mostRanks + index;
  ranks.sort();
  const before = numbers.slice();
  let runStart = 0;
  for (let index = 0; index < count; index++) {
    const rank = ranks[index]!;
    numbers[index] = before[rank % mostRanks]!;
    if (Math.floor(rank / mostRanks) === Math.floor(ranks[runStart]! / mostRanks)) continue;
    sortByBytes(keys, numbers.subarray(runStart, index), depth + wordBytes);
    runStart = index;
  }
  sortByBytes(keys, numbers.subarray(runStart), depth + wordBytes);
}

/** Four bytes of a key, big-endian; zeros follow its end, which is no tie with real zeros: those are longer keys, and sort deeper. */
function word(keys: KeyColumn, number: number, depth: number): number {
  const { bytes } = keys;
  const at = keys.ends[number]! + depth;
  const end = keys.ends[number + 1]!;
  const high = at < end ? bytes[at]! : 0;
  const second = at + 1 < end ? bytes[at + 1]! : 0;
  const third = at + 2 < end ? bytes[at + 2]! : 0;
  const low = at + 3 < end ? bytes[at + 3]! : 0;
  return ((high << 24) | (second << 16) | (third << 8) | low) >>> 0;
}

function compareKeys(keys: KeyColumn, a: number, b: number): number {
  const { bytes, ends } = keys;
  return bytes.compare(bytes, ends[b], ends[b + 1], ends[a], ends[a + 1]);
}
