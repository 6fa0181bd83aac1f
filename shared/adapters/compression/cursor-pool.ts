import type { Cursor } from "./cursor.ts";

/** Cursors that are kept, at most: each holds the window of its stream, up to some MiB. Of each file that is read now, one for Plan and one for Operate. */
const mostKept = 16;

/**
 * Cursors that nobody uses, each where an epoch left it, so that the next one goes on from there: without them each would decompress its file from the beginning.
 * The least recently used go first.
 */
export class CursorPool {
  readonly #kept: { readonly key: string; readonly cursor: Cursor }[] = [];

  /** The one that has the shortest way to a position. */
  take(key: string, position: number): Cursor | undefined {
    const able = this.#kept.filter((one) => one.key === key && one.cursor.position <= position);
    const best = able.reduce((one, other) => (other.cursor.position > one.cursor.position ? other : one), able[0]!);
    if (best === undefined) return undefined;
    this.#kept.splice(this.#kept.indexOf(best), 1);
    return best.cursor;
  }

  async give(key: string, cursor: Cursor): Promise<void> {
    this.#kept.push({ key, cursor });
    if (this.#kept.length > mostKept) await this.#kept.shift()!.cursor.close();
  }

  async close(): Promise<void> {
    for (const { cursor } of this.#kept.splice(0)) await cursor.close();
  }
}
