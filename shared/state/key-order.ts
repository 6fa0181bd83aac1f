import { countOf, type Entries, keyOf } from "./entries.ts";
import { keyGroupOf } from "./key-codec.ts";
import type { KeyColumn } from "./key-table.ts";
import { sortByByte, sortByGroup, spaceFor, type Words } from "./radix-sort.ts";

/** Numbers of keys, sorted by key group: those of group g are `order[starts[g], starts[g + 1])`. */
export interface KeyOrder {
  readonly order: Int32Array;
  readonly starts: Int32Array;
}

/** Groups entries by the key groups of their keys, keeping their order within a group. */
export function byGroup(entries: Entries, keyGroups: number): KeyOrder {
  const { hashes } = entries.keys;
  const groups = new Int32Array(countOf(entries));
  for (let index = 0; index < groups.length; index++)
    groups[index] = keyGroupOf(hashes[keyOf(entries, index)]!, keyGroups);
  return byPart(groups, keyGroups);
}

/** Groups what belongs to these parts, keeping the order within a part. A counting sort. */
export function byPart(parts: Int32Array, count: number): KeyOrder {
  const starts = new Int32Array(count + 1);
  countParts(parts, starts);
  for (let part = 0; part < count; part++) starts[part + 1]! += starts[part]!;
  const order = new Int32Array(parts.length);
  placeParts(parts, starts.slice(), order);
  return { order, starts };
}

// A long loop is a function of its own, with nothing behind it: V8 compiles it while it runs, and would give the code up where it has never been yet.
function countParts(parts: Int32Array, starts: Int32Array): void {
  for (let index = 0; index < parts.length; index++) starts[parts[index]! + 1]!++;
}

function placeParts(parts: Int32Array, next: Int32Array, order: Int32Array): void {
  for (let index = 0; index < parts.length; index++) order[next[parts[index]!]!++] = index;
}

/**
 * Sorted by (key group, key bytes): the order of output and of snapshots, whatever order the keys came in (I6). A radix sort by the four bytes after those that all keys
 * begin with, the last of them first, and then by key group; where all of these are equal, by what follows.
 */
export function byGroupAndKey(keys: KeyColumn, keyGroups: number, numbers?: ArrayLike<number>): KeyOrder {
  const count = numbers?.length ?? keys.count;
  const depth = commonPrefix(keys, numbers);
  let [from, to] = spaceFor(count);
  takeWords(keys, numbers, count, depth, from);
  for (let shift = 0; shift < 32; shift += 8) {
    sortByByte(from, to, count, shift);
    [from, to] = [to, from];
  }
  const order = new Int32Array(count);
  const starts = sortByGroup(from, { numbers: order, words: to.words }, count, keys.hashes, keyGroups);
  sortTies(keys, { order, starts }, to.words, depth + wordBytes);
  return { order, starts };
}

function takeWords(
  keys: KeyColumn,
  numbers: ArrayLike<number> | undefined,
  count: number,
  depth: number,
  to: Words,
): void {
  for (let index = 0; index < count; index++) {
    const number = numbers === undefined ? index : numbers[index]!;
    to.numbers[index] = number;
    to.words[index] = word(keys, number, depth);
  }
}

/** How many bytes all of these keys begin with. */
function commonPrefix({ bytes, ends, count }: KeyColumn, numbers: ArrayLike<number> | undefined): number {
  const length = numbers?.length ?? count;
  if (length === 0) return 0;
  const first = numbers === undefined ? 0 : numbers[0]!;
  const start = ends[first]!;
  let prefix = ends[first + 1]! - start;
  for (let index = 1; index < length && prefix > 0; index++) {
    const number = numbers === undefined ? index : numbers[index]!;
    const from = ends[number]!;
    const most = Math.min(prefix, ends[number + 1]! - from);
    for (prefix = 0; prefix < most && bytes[from + prefix] === bytes[start + prefix]; ) prefix++;
  }
  return prefix;
}

const wordBytes = 4;

/** Sorts keys of one group with the same word by the bytes from `depth` on. @param words of the keys, in the same order */
function sortTies(keys: KeyColumn, { order, starts }: KeyOrder, words: Uint32Array, depth: number): void {
  for (let group = 0; group + 1 < starts.length; group++) {
    const end = starts[group + 1]!;
    for (let from = starts[group]!; from < end; ) {
      let to = from + 1;
      while (to < end && words[to] === words[from]) to++;
      if (to - from > 1) sortByBytes(keys, order.subarray(from, to), depth);
      from = to;
    }
  }
}

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

/** Byte by byte: keys are short, and tell themselves apart early. */
function compareKeys({ bytes, ends }: KeyColumn, a: number, b: number): number {
  const endOfA = ends[a + 1]!;
  const endOfB = ends[b + 1]!;
  let [one, other] = [ends[a]!, ends[b]!];
  for (; one < endOfA && other < endOfB; one++, other++) {
    const difference = bytes[one]! - bytes[other]!;
    if (difference !== 0) return difference;
  }
  return endOfA - one - (endOfB - other);
}

/** Both lists of entries, sorted by key, as one that is; an entry that is in both is in it once. */
export function mergeByKey(entries: Entries, one: Int32Array, other: Int32Array): Int32Array {
  const { keys } = entries;
  const merged = new Int32Array(one.length + other.length);
  let [count, at, beside] = [0, 0, 0];
  while (at < one.length && beside < other.length) {
    const [left, right] = [one[at]!, other[beside]!];
    const order = left === right ? 0 : compareKeys(keys, keyOf(entries, left), keyOf(entries, right));
    if (order <= 0) at++;
    if (order >= 0) beside++;
    merged[count++] = order <= 0 ? left : right;
  }
  while (at < one.length) merged[count++] = one[at++]!;
  while (beside < other.length) merged[count++] = other[beside++]!;
  return count === merged.length ? merged : merged.slice(0, count);
}
