import { UserCodeError } from "../errors.ts";
import { toSelector, withPointer } from "../pipeline/pointer.ts";
import type { At, Pointer, PointerTo } from "../pipeline/pointer-types.ts";
import { withFieldAdd, withKernel } from "./kernels.ts";

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

/** A number of a value: by a function, or by a JSON pointer into it, "/amount". */
export type NumberOf<T> = ((value: T) => number) | PointerTo<NoInfer<T>, number>;

/** An aggregate of one's own; without a name it is called "custom". */
export function aggregate<T, A, R>(
  parts: Omit<Aggregate<T, A, R>, "name"> & { readonly name?: string },
): Aggregate<T, A, R> {
  return { name: "custom", ...parts };
}

const addOne = withKernel(
  (accumulator: number) => accumulator + 1,
  (column, numbers, count) => {
    for (let at = 0; at < count; at++) column[numbers[at]!]!++;
  },
);

/** What begins with 0. `init` may be this very function, which is then not called for each key (window-table.ts). */
export const zero = (): number => 0;

/** Adds numbers up. `merge` may be this very function, which is then not called for each key (merge.ts). */
export const plus = (own: number, other: number): number => own + other;

/** The accumulator is the result. `result` may be this very function, which is then not called for each key (results.ts). */
export const itself = <A>(accumulator: A): A => accumulator;

/**
 * Whether it makes no difference in what portions values are folded, and these are merged, as it does where sums of fractions are rounded: a count, which is a whole number, and the
 * smallest or largest of all.
 */
export function isExact({ add, merge }: { readonly add: unknown; readonly merge: unknown }): boolean {
  return (add === addOne && merge === plus) || merge === Math.min || merge === Math.max;
}

/** Number of values. */
export function count(): Aggregate<unknown, number, number> {
  return {
    name: "count",
    numeric: true,
    init: zero,
    add: addOne,
    merge: plus,
    result: itself,
  };
}

/** Sum of a number of each value. */
export function sum<T>(select: NumberOf<T>): Aggregate<T, number, number> {
  return foldNumbers("sum", select, 0, plus);
}

/** The smallest of a number of each value. */
export function min<T>(select: NumberOf<T>): Aggregate<T, number, number> {
  return foldNumbers("min", select, Number.POSITIVE_INFINITY, Math.min);
}

/** The largest of a number of each value. */
export function max<T>(select: NumberOf<T>): Aggregate<T, number, number> {
  return foldNumbers("max", select, Number.NEGATIVE_INFINITY, Math.max);
}

/** Arithmetic mean of a number of each value. */
export function average<T>(select: NumberOf<T>): Aggregate<T, [sum: number, count: number], number> {
  return {
    name: "average",
    init: () => [0, 0],
    add: addNumber<T, [sum: number, count: number]>("average", select, (accumulator, number) => {
      accumulator[0] += number;
      accumulator[1] += 1;
      return accumulator;
    }),
    merge(accumulator, other) {
      accumulator[0] += other[0];
      accumulator[1] += other[1];
      return accumulator;
    },
    result: ([total, values]) => total / values,
  };
}

/**
 * All values, or a part of each, in the order in which they are folded: that of the offsets in a partition. State grows with them. A JSON pointer picks the part as a
 * function does; where it leads to nothing, `undefined` is collected.
 */
export function collect<T>(): Aggregate<T, T[], T[]>;
export function collect<T, R>(select: (value: T) => R): Aggregate<T, R[], R[]>;
export function collect<T, const P extends Pointer<T> = Pointer<T>>(pointer: P): Aggregate<T, At<T, P>[], At<T, P>[]>;
export function collect<T>(select: string | ((value: T) => unknown) = ""): Aggregate<T, unknown[], unknown[]> {
  return {
    name: "collect",
    init: () => [],
    add: addField<T, unknown[]>("collect", select, (accumulator, found) => {
      accumulator.push(found);
      return accumulator;
    }),
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
  select: NumberOf<T>,
  initial: number,
  combine: (left: number, right: number) => number,
): Aggregate<T, number, number> {
  return {
    name,
    numeric: true,
    init: initial === 0 ? zero : () => initial,
    add: addNumber<T, number>(name, select, combine),
    merge: combine,
    result: itself,
  };
}

type Add<T, A> = (accumulator: A, value: T) => A;

/** Adds a finite number of each value. */
function addNumber<T, A>(name: string, select: NumberOf<T>, add: (accumulator: A, number: number) => A): Add<T, A> {
  const pointer = typeof select === "string" ? select : undefined;
  return addField<T, A>(name, select, (accumulator, found) => add(accumulator, finite(name, found, pointer)));
}

function addField<T, A>(
  name: string,
  given: string | ((value: T) => unknown),
  add: (accumulator: A, found: unknown) => A,
): Add<T, A> {
  const select = toSelector<(value: T) => unknown>(`${name}()`, given);
  const addWhole: Add<T, A> = (accumulator, value) => add(accumulator, select(value));
  return typeof given === "string" ? withFieldAdd(withPointer(given, addWhole), add) : addWhole;
}

/** One NaN would make a whole window's result NaN, and JSON has no word for it: better to refuse the one record. */
function finite(name: string, value: unknown, pointer?: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const got = typeof value === "number" || value === null ? String(value) : `a value of type ${typeof value}`;
  throw new UserCodeError(
    "not-a-number",
    pointer === undefined
      ? `The function given to ${name}() must return a finite number, but returned ${got}`
      : `${name}("${pointer}") takes a finite number, but found ${value === undefined ? "nothing" : got}`,
  );
}
