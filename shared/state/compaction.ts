import { keyGroupOf } from "./key-codec.ts";
import type { KeyColumn } from "./key-table.ts";
import { type Kind, kind } from "./snapshot.ts";
import type { GroupChain, StageState } from "./stage-state.ts";

/** A chain is never longer: so many objects at most are read for a key group. */
const longestChain = 8;

/** Key groups that differ from their last snapshot, ascending. */
export function changedGroups(state: StageState): number[] {
  const changed = new Uint8Array(state.topology.keyGroups);
  for (const removed of state.removed) for (const group of removed.groups) changed[group] = 1;
  for (const group of state.purged) changed[group] = 1;
  for (const { windows } of state.operators) {
    for (const window of windows.values()) mark(changed, window.keys, window.changed());
  }
  return [...changed.keys()].filter((group) => changed[group] === 1);
}

/**
 * What to write of each changed key group that has any state left, ascending. A group is written whole when it has no base yet, when keys of it are gone, when
 * its chain is long, or when its deltas outweigh its base: then reading it costs at most about twice its size, and so does writing it, over time.
 */
export function chooseKinds(state: StageState): Map<number, Kind> {
  const live = liveGroups(state);
  const kinds = new Map<number, Kind>();
  for (const group of changedGroups(state)) {
    if (live?.[group] === 0) continue;
    const { objects, baseBytes, deltaBytes } = state.chains[group - state.groups.from]!;
    const whole =
      objects.length === 0 || state.purged.has(group) || objects.length >= longestChain || deltaBytes > baseBytes;
    kinds.set(group, whole ? kind.base : kind.delta);
  }
  return kinds;
}

/** The chain with one more object, or with it alone if it has the whole key group. */
export function extend(chain: GroupChain, key: string, as: Kind, size: number): GroupChain {
  if (as === kind.base) return { objects: [key], baseBytes: size, deltaBytes: 0 };
  return { objects: [...chain.objects, key], baseBytes: chain.baseBytes, deltaBytes: chain.deltaBytes + size };
}

/** 1 for key groups with any state; undefined if no window and no key is gone, so that all changed ones have some. */
function liveGroups(state: StageState): Uint8Array | undefined {
  if (state.removed.length === 0 && state.purged.size === 0) return undefined;
  const live = new Uint8Array(state.topology.keyGroups);
  for (const { windows } of state.operators) {
    for (const { keys } of windows.values()) mark(live, keys);
  }
  return live;
}

/** Marks the key groups of keys, or of those with these numbers. */
function mark(groups: Uint8Array, { count, hashes }: KeyColumn, numbers?: Int32Array): void {
  if (numbers === undefined)
    for (let number = 0; number < count; number++) groups[keyGroupOf(hashes[number]!, groups.length)] = 1;
  else for (const number of numbers) groups[keyGroupOf(hashes[number]!, groups.length)] = 1;
}
