import { type KeyOrder, mergeByKey } from "./key-order.ts";
import type { WindowState } from "./window-state.ts";

/** Keys of a window: `order[from, to)`, sorted by key. */
export interface Part {
  readonly window: WindowState;
  readonly order: Int32Array;
  readonly from: number;
  readonly to: number;
}

/**
 * What one snapshot object has of one key group. Of each link of its chain the state in memory knows which keys it has, so that a later object can take its place
 * without its being read.
 */
export class Link {
  /** The object's key. */
  readonly object: string;
  /** Size in it, before compression. */
  readonly bytes: number;
  /** Windows that it says are gone. */
  readonly removed: readonly WindowState[];
  readonly #windows: WindowState[] = [];
  /** Sizes of the windows' parts. */
  readonly #sizes: number[] = [];
  /** Where each window's keys end among the numbers. */
  #ends: Int32Array;
  #numbers: Int32Array;
  #bytesGone = 0;

  /** @param sizes of the parts, bytes */
  constructor(
    object: string,
    bytes: number,
    removed: readonly WindowState[],
    parts: readonly Part[],
    sizes: readonly number[],
  ) {
    this.object = object;
    this.bytes = bytes;
    this.removed = removed;
    this.#ends = parts.length === 0 ? none : new Int32Array(parts.length);
    this.#numbers = parts.length === 0 ? none : new Int32Array(parts.reduce((sum, { from, to }) => sum + to - from, 0));
    let at = 0;
    for (const [index, { window, order, from, to }] of parts.entries()) {
      this.#windows.push(window);
      this.#sizes.push(sizes[index]!);
      this.#numbers.set(order.subarray(from, to), at);
      at += to - from;
      this.#ends[index] = at;
    }
  }

  /** Its size without the windows that are gone since. */
  get bytesAlive(): number {
    return this.bytes - this.#bytesGone;
  }

  has(window: WindowState): boolean {
    return this.#windows.includes(window);
  }

  /** Whether it has a key of a window that is still there. */
  get anyAlive(): boolean {
    return this.#windows.some((window, index) => !window.isGone && this.#ends[index]! > (this.#ends[index - 1] ?? 0));
  }

  /** Those of the windows, gone a moment ago, that it has. */
  countGone(gone: ReadonlySet<WindowState>): WindowState[] {
    return this.#windows.filter((window, index) => {
      if (!window.isGone || !gone.has(window)) return false;
      this.#bytesGone += this.#sizes[index]!;
      return true;
    });
  }

  /** What it has, in the order in which it has it; keys only of windows that are still there. */
  parts(): Part[] {
    return this.#windows.map((window, index) => {
      const from = this.#ends[index - 1] ?? 0;
      return { window, order: this.#numbers, from, to: window.isGone ? from : this.#ends[index]! };
    });
  }

  /** The same for other windows and numbers. */
  translated(translate: (part: Part) => Part): Link {
    const link = new Link(this.object, this.bytes, this.removed, this.parts().map(translate), this.#sizes);
    link.#bytesGone = this.#bytesGone;
    return link;
  }
}

const none = new Int32Array(0);

/** The parts of windows that are still there, each window once, with every key once; windows in the order in which they come. */
export function union(lists: readonly (readonly Part[])[]): Part[] {
  const byWindow = new Map<WindowState, Part>();
  for (const part of lists.flat()) {
    if (part.window.isGone || part.from === part.to) continue;
    const before = byWindow.get(part.window);
    byWindow.set(part.window, before === undefined ? part : merged(before, part));
  }
  return [...byWindow.values()];
}

function merged({ window, ...one }: Part, other: Part): Part {
  const order = mergeByKey(window, one.order.subarray(one.from, one.to), other.order.subarray(other.from, other.to));
  return { window, order, from: 0, to: order.length };
}

export function partOf(window: WindowState, { order, starts }: KeyOrder, group: number): Part {
  return { window, order, from: starts[group]!, to: starts[group + 1]! };
}
