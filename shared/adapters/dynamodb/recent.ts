import type { Attributes } from "./table.ts";
import type { Readings } from "./view.ts";

/** When there are more rows, all are forgotten: the protocol asks again for what it has just looked at. */
const mostRows = 200;

/**
 * Rows and ranges as this process has read or written them last, for writes that are conditional on them: a step of the protocol reads, and then writes on what it
 * has read, which need not be read once more. What has changed meanwhile makes the write fail.
 */
export class Recent {
  readonly #rows = new Map<string, Attributes | undefined>();
  readonly #ranges = new Map<string, readonly string[]>();

  /** @param row undefined: it is not there */
  note(key: string, row: Attributes | undefined): void {
    if (this.#rows.size >= mostRows) {
      this.#rows.clear();
      this.#ranges.clear();
    }
    this.#rows.set(key, row);
  }

  /** @param rows those of the range, by their keys */
  noteRange(range: string, rows: ReadonlyMap<string, Attributes>): void {
    if (rows.size >= mostRows) return;
    for (const [key, row] of rows) this.note(key, row);
    this.#ranges.set(range, [...rows.keys()]);
  }

  /** Adds a row to the readings; false: nothing is known of it. */
  recall(key: string, readings: Readings): boolean {
    if (!this.#rows.has(key)) return false;
    readings.rows.set(key, this.#rows.get(key));
    readings.isRecalled = true;
    return true;
  }

  recallRange(range: string, readings: Readings): boolean {
    const keys = this.#ranges.get(range);
    if (keys === undefined || !keys.every((key) => readings.rows.has(key) || this.recall(key, readings))) return false;
    readings.ranges.set(range, keys);
    readings.isRecalled = true;
    return true;
  }
}
