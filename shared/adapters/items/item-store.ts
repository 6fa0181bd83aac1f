declare const value: unique symbol;
declare const values: unique symbol;

/** Key of one item, and the type of what it holds. */
export type Key<T> = string & { readonly [value]?: T };
/** What the keys of several items of one type begin with. */
export type Prefix<T> = string & { readonly [values]?: T };

/** Items as they are within one transaction. Values go through JSON: nobody shares an object with the store. */
export interface ItemReader {
  get<T>(key: Key<T>): T | undefined;
  /** In the order of their keys. */
  list<T>(prefix: Prefix<T>): T[];
  /** Keys in `[from, below)`, ascending. */
  keys(from: string, below: string): string[];
}

/** Inserts create and updates do not, so that no update brings back a row that was deleted (protocol §5). */
export interface Items extends ItemReader {
  insert<T>(key: Key<T>, item: T): void;
  update<T>(key: Key<T>, item: T): void;
  delete(key: string): void;
}

/**
 * How long a write is sure to stay. `durable`, the default: for ever, and so is all that was written before it. `process`: whatever happens to processes; a power failure may
 * undo it together with everything after it, unless a durable write has followed. Never is one undone, and a later one not.
 */
export type Lasting = "durable" | "process";

/** All that a ledger needs of a database on one machine. `work` is synchronous, and begins no other transaction. */
export interface ItemStore {
  /** A consistent view. */
  readonly read: <T>(work: (items: ItemReader) => T) => T;
  /** Atomic, isolated: all that `work` did, or nothing if it throws. */
  readonly write: <T>(work: (items: Items) => T, lasting?: Lasting) => T;
  readonly close: () => void;
}

/** Greater than every key that begins with the prefix. Keys are ASCII. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
