import { endOf, type Items, type Key, type Prefix } from "../items/item-store.ts";
import { isPackKey, type Pack, packKeyOf } from "./packs.ts";
import { type Attributes, type Expectation, revisionOf } from "./table.ts";

/** What a verb asked for that was not read yet. */
export class Unread {
  readonly wanted: Wanted;
  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }
}

export type Wanted =
  | { readonly rows: readonly string[] }
  | { readonly range: { readonly from: string; readonly below: string } }
  /** The rows are there, and their values not decoded. */
  | { readonly values: readonly string[] };

/** Of a range, among readings. */
export const nameOf = ({ from, below }: { readonly from: string; readonly below: string }): string =>
  `${from} ${below}`;

interface Write {
  readonly kind: "insert" | "update" | "delete";
  readonly item: unknown;
}

/** What was read of a table, at different moments. */
export class Readings {
  readonly rows = new Map<string, Attributes | undefined>();
  readonly values = new Map<string, unknown>();
  /** Keys of rows, by range. */
  readonly ranges = new Map<string, readonly string[]>();
  /** Some of it was read for an earlier call. */
  isRecalled = false;

  revisionOf(key: string): Expectation {
    return { key, revision: revisionOf(this.rows.get(key)) };
  }
}

/** The items that one run of a verb sees and writes. It throws `Unread` for what is not among the readings. */
export class View implements Items {
  /** Rows whose state the verb's outcome rests on. Ranges and packs are not among them: see `ledger.ts`. */
  readonly used = new Set<string>();
  readonly writes = new Map<string, Write>();
  readonly #readings: Readings;

  constructor(readings: Readings) {
    this.#readings = readings;
  }

  get<T>(key: Key<T>): T | undefined {
    const written = this.writes.get(key);
    if (written) return written.item as T | undefined;
    this.used.add(key);
    const pack = packKeyOf(key);
    const { rows } = this.#readings;
    if (!rows.has(key) || (pack !== undefined && !rows.has(pack)))
      throw new Unread({ rows: pack === undefined ? [key] : [key, pack] });
    return this.#value<T>(key) ?? (pack === undefined ? undefined : (this.#pack(pack)[key] as T | undefined));
  }

  list<T>(prefix: Prefix<T>): T[] {
    return this.keys(prefix, endOf(prefix)).map((key) => {
      const pack = packKeyOf(key);
      return (this.#value<T>(key) ?? (pack === undefined ? undefined : this.#pack(pack)[key])) as T;
    });
  }

  keys(from: string, below: string): string[] {
    const start = packKeyOf(from) ?? from;
    const found = this.#readings.ranges.get(nameOf({ from: start, below }));
    if (found === undefined) throw new Unread({ range: { from: start, below } });
    const packed = found.filter(isPackKey).flatMap((pack) => Object.keys(this.#pack(pack)));
    const all = new Set([...found.filter((key) => !isPackKey(key)), ...packed]);
    return [...all].filter((key) => key >= from && key < below).sort();
  }

  insert<T>(key: Key<T>, item: T): void {
    this.writes.set(key, { kind: "insert", item });
  }

  update<T>(key: Key<T>, item: T): void {
    this.writes.set(key, { kind: "update", item });
  }

  delete(key: string): void {
    this.writes.set(key, { kind: "delete", item: undefined });
  }

  #pack(key: string): Pack {
    return (this.#value<{ units: Pack }>(key) ?? { units: {} }).units;
  }

  #value<T>(key: string): T | undefined {
    if (!this.#readings.rows.get(key)) return undefined;
    if (!this.#readings.values.has(key)) throw new Unread({ values: [key] });
    return this.#readings.values.get(key) as T;
  }
}
