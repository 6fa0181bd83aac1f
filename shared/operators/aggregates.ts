/**
 * An aggregate as a monoid on accumulators: because partial ones can be merged, readers pre-aggregate before the shuffle, as a combiner
 * does. All four are pure; `add` and `merge` may change and return their first argument. An accumulator is data: what the state codec knows.
 */
export interface Aggregate<T, A, R> {
  /** For `explain` and the fingerprint: "count", "sum", … */
  readonly name: string;
  init(): A;
  add(accumulator: A, value: T): A;
  merge(accumulator: A, other: A): A;
  result(accumulator: A): R;
}
