import { keyGroupOf } from "./key-codec.ts";

/** Numbers of keys, with four bytes of each. */
export interface Words {
  readonly numbers: Int32Array;
  readonly words: Uint32Array;
}

/** Space for so many keys is kept for the next sort: to have it made anew for each of many windows takes longer than to sort them. */
const keptCount = 1 << 16;

let kept = newSpace(0);

/** Space to sort so many keys in: a pass reads the one and writes the other. It is whoever's asked last. */
export function spaceFor(count: number): [Words, Words] {
  if (count > keptCount) return newSpace(count);
  if (kept[0].numbers.length < count) kept = newSpace(2 ** Math.ceil(Math.log2(count)));
  return kept;
}

function newSpace(count: number): [Words, Words] {
  const words = () => ({ numbers: new Int32Array(count), words: new Uint32Array(count) });
  return [words(), words()];
}

const places = new Int32Array(256);

/** Sorts by one byte of the words, and otherwise as they are. */
export function sortByByte(from: Words, to: Words, count: number, shift: number): void {
  places.fill(0);
  countBytes(from.words, count, shift);
  for (let byte = 0, before = 0; byte < 256; byte++) {
    const here = places[byte]!;
    places[byte] = before;
    before += here;
  }
  placeByByte(from, to, count, shift);
}

// Long loops are functions of their own: as in key-order.ts.
function countBytes(words: Uint32Array, count: number, shift: number): void {
  for (let index = 0; index < count; index++) places[(words[index]! >>> shift) & 255]!++;
}

function placeByByte({ words, numbers }: Words, to: Words, count: number, shift: number): void {
  for (let index = 0; index < count; index++) {
    const place = places[(words[index]! >>> shift) & 255]!++;
    to.numbers[place] = numbers[index]!;
    to.words[place] = words[index]!;
  }
}

/** The same by key group. @returns where each group begins, and the last one ends */
export function sortByGroup(from: Words, to: Words, count: number, hashes: Int32Array, keyGroups: number): Int32Array {
  const starts = new Int32Array(keyGroups + 1);
  countGroups(from.numbers, count, hashes, keyGroups, starts);
  for (let group = 0; group < keyGroups; group++) starts[group + 1]! += starts[group]!;
  placeByGroup(from, to, count, hashes, keyGroups, starts.slice());
  return starts;
}

function countGroups(
  numbers: Int32Array,
  count: number,
  hashes: Int32Array,
  keyGroups: number,
  starts: Int32Array,
): void {
  for (let index = 0; index < count; index++) starts[keyGroupOf(hashes[numbers[index]!]!, keyGroups) + 1]!++;
}

function placeByGroup(
  { words, numbers }: Words,
  to: Words,
  count: number,
  hashes: Int32Array,
  keyGroups: number,
  next: Int32Array,
): void {
  for (let index = 0; index < count; index++) {
    const place = next[keyGroupOf(hashes[numbers[index]!]!, keyGroups)]!++;
    to.numbers[place] = numbers[index]!;
    to.words[place] = words[index]!;
  }
}
