import { UserCodeError } from "../errors.ts";

/**
 * An aggregate as a monoid on accumulators: because partial ones can be merged, readers pre-aggregate before the shuffle, as a combiner
 * does. All four are pure; `add` and `merge` may change and return their first argument. An accumulator is data: what the state codec knows.
 */
export interface Aggregate<in T, A, out R> {
  /** For `explain` and the fingerprint: "count", "sum", … */
  readonly name: string;
  /** The accumulator is always a plain number, so that state may keep it in a column of numbers. */
  readonly numeric?: boolean;
  init(): A;
  add(accumulator: A, value: T): A;
  /** Associative; `other` holds what came after `accumulator`. */
  merge(accumulator: A, other: A): A;
  /** Called again each time that the window fires: must leave the accumulator as it is. */
  result(accumulator: A): R;
}

/** An aggregate of one's own; without a name it is called "custom". */
export function aggregate<T, A, R>(
  parts: Omit<Aggregate<T, A, R>, "name"> & { readonly name?: string },
): Aggregate<T, A, R> {
  return { name: "custom", ...parts };
}

/** Number of values. */
export function count(): Aggregate<unknown, number, number> {
  return {
    name: "count",
    numeric: true,
    init: () => 0,
    add: (accumulator) => accumulator + 1,
    merge: (accumulator, other) => accumulator + other,
    result: (accumulator) => accumulator,
  };
}

/** Sum of a number of each value. */
export function sum<T>(select: (value: T) => number): Aggregate<T, number, number> {
  return foldNumbers("sum", select, 0, (a, b) => a + b);
}

/** The smallest of a number of each value. */
export function min<T>(select: (value: T) => number): Aggregate<T, number, number> {
  return foldNumbers("min", select, Number.POSITIVE_INFINITY, Math.min);
}

/** The largest of a number of each value. */
export function max<T>(select: (value: T) => number): Aggregate<T, number, number> {
  return foldNumbers("max", select, Number.NEGATIVE_INFINITY, Math.max);
}

/** Arithmetic mean of a number of each value. */
export function average<T>(select: (value: T) => number): Aggregate<T, [sum: number, count: number], number> {
  return {
    name: "average",
    init: () => [0, 0],
    add(accumulator, value) {
      accumulator[0] += finite("average", select(value));
      accumulator[1] += 1;
      return accumulator;
    },
    merge(accumulator, other) {
      accumulator[0] += other[0];
      accumulator[1] += other[1];
      return accumulator;
    },
    result: ([total, values]) => total / values,
  };
}

/** All values, or a part of each, in the order in which they are folded: that of the offsets in a partition. State grows with them. */
export function collect<T>(): Aggregate<T, T[], T[]>;
export function collect<T, R>(select: (value: T) => R): Aggregate<T, R[], R[]>;
export function collect<T>(select: (value: T) => unknown = (value) => value): Aggregate<T, unknown[], unknown[]> {
  return {
    name: "collect",
    init: () => [],
    add(accumulator, value) {
      accumulator.push(select(value));
      return accumulator;
    },
    merge(accumulator, other) {
      for (const item of other) accumulator.push(item);
      return accumulator;
    },
    result: (accumulator) => [...accumulator],
  };
}

/**
 * Combines values of one type into one of the same type. `combine` must be associative, need not be commutative, and must not change
 * its arguments. `initial` comes before the first value, once.
 */
export function reduce<T>(combine: (left: T, right: T) => T, initial?: T): Aggregate<T, readonly T[], T> {
  const fold = (left: readonly T[], right: readonly T[]): readonly T[] =>
    left.length === 0 ? right : right.length === 0 ? left : [combine(left[0] as T, right[0] as T)];
  return {
    name: "reduce",
    init: () => [],
    add: (accumulator, value) => fold(accumulator, [value]),
    merge: fold,
    result: ([value]) => (initial === undefined ? (value as T) : combine(initial, value as T)),
  };
}

function foldNumbers<T>(
  name: string,
  select: (value: T) => number,
  initial: number,
  combine: (left: number, right: number) => number,
): Aggregate<T, number, number> {
  return {
    name,
    numeric: true,
    init: () => initial,
    add: (accumulator, value) => combine(accumulator, finite(name, select(value))),
    merge: (accumulator, other) => combine(accumulator, other),
    result: (accumulator) => accumulator,
  };
}

/** One NaN would make a whole window's result NaN, and JSON has no word for it: better to refuse the one record. */
function finite(name: string, value: number): number {
  if (Number.isFinite(value)) return value;
  const got = typeof value === "number" ? String(value) : value === null ? "null" : `a value of type ${typeof value}`;
  throw new UserCodeError(
    "not-a-number",
    `The function given to ${name}() must return a finite number, but returned ${got}`,
  );
}
