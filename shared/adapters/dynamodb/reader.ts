import { isEpochKey } from "../items/layout.ts";
import type { Overflow } from "./overflow.ts";
import { isPackKey, packKeyOf } from "./packs.ts";
import { Recent } from "./recent.ts";
import { decode } from "./rows.ts";
import type { Table } from "./table.ts";
import { nameOf, type Readings, type Wanted } from "./view.ts";

export interface Reading {
  /** Default: all. */
  readonly fields?: "all" | "in the row";
  /** Keys of rows that need not be read if that was done before; ranges need not be either, if any are. */
  readonly recalled?: ReadonlySet<string>;
}

/** Reads what a verb asks for. */
export class Reader {
  readonly recent = new Recent();
  readonly #table: Table;
  readonly #overflow: Overflow;

  constructor(table: Table, overflow: Overflow) {
    this.#table = table;
    this.#overflow = overflow;
  }

  /** Adds it to the readings. */
  async read(readings: Readings, wanted: Wanted, { fields = "all", recalled }: Reading = {}): Promise<void> {
    if ("rows" in wanted) {
      const keys = new Set(wanted.rows.flatMap((key) => packKeyOf(key) ?? []).concat(wanted.rows));
      for (const key of keys) if (recalled?.has(key)) this.recent.recall(key, readings);
      await this.#get(
        readings,
        [...keys].filter((key) => !readings.rows.has(key)),
      );
      await this.#decode(readings, [...keys], fields);
    } else if ("range" in wanted) {
      const range = nameOf(wanted.range);
      if (!recalled?.size || !this.recent.recallRange(range, readings)) await this.#query(readings, wanted.range);
      await this.#decode(readings, readings.ranges.get(range)!.filter(isPackKey), fields);
    } else {
      // Whoever wants one value of a range wants those of its kind.
      const alike = isEpochKey(wanted.values[0]!);
      const keys = [...readings.rows.keys()].filter((key) => isEpochKey(key) === alike);
      await this.#decode(readings, keys, fields);
    }
  }

  async #get({ rows }: Readings, keys: readonly string[]): Promise<void> {
    const found = await Promise.all(keys.map((key) => this.#table.get(key)));
    for (const [index, key] of keys.entries()) {
      rows.set(key, found[index]);
      this.recent.note(key, found[index]);
    }
  }

  async #query({ rows, ranges }: Readings, range: { readonly from: string; readonly below: string }): Promise<void> {
    const found = new Map((await this.#table.query(range.from, range.below)).map((row) => [row.sk!.S!, row]));
    ranges.set(nameOf(range), [...found.keys()]);
    for (const [key, row] of found) if (!rows.has(key)) rows.set(key, row);
    this.recent.noteRange(nameOf(range), found);
  }

  async #decode(readings: Readings, keys: readonly string[], fields: "all" | "in the row"): Promise<void> {
    const values = keys.map(async (key) => {
      const row = readings.rows.get(key);
      // The objects of epochs and packs are there as long as their rows; a zombie's ack or unit may lack its own.
      const whole = isPackKey(key) || isEpochKey(key) ? "all" : fields;
      if (row && !readings.values.has(key)) readings.values.set(key, await decode(row, this.#overflow, whole));
    });
    await Promise.all(values);
  }
}
