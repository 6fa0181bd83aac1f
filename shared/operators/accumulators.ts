import { UserCodeError } from "../errors.ts";
import { ByteReader } from "../state/bytes.ts";
import { checkData, dataBytes, decodeData, NotDataError } from "../state/codec.ts";
import { type AnyAggregate, type NamedAggregate, noData } from "../state/columns.ts";
import { settled } from "./user-function.ts";

/** What `init`, `add` or `merge` of an aggregate gave, if it can be an accumulator. @throws UserCodeError */
export function checkedAccumulator(aggregate: AnyAggregate, accumulator: unknown): unknown {
  return aggregate.numeric === true ? checkedNumber(accumulator) : settled(accumulator);
}

export function checkedNumber(accumulator: unknown): number {
  if (typeof accumulator === "number") return accumulator;
  settled(accumulator);
  throw new UserCodeError("accumulator-not-a-number", "a numeric aggregate gave an accumulator that is no number");
}

/** @throws UserCodeError `accumulator-not-data` */
export function checkAccumulators(of: NamedAggregate, accumulators: readonly unknown[]): void {
  naming(of, () => {
    for (const accumulator of accumulators) checkData(accumulator);
  });
}

/** @throws UserCodeError `accumulator-not-data` */
export function accumulatorBytes(of: NamedAggregate, accumulator: unknown): Buffer {
  return naming(of, () => dataBytes(accumulator));
}

/** A copy that shares nothing with the accumulator. @throws UserCodeError `accumulator-not-data` */
export function copyAccumulator(of: NamedAggregate, accumulator: unknown): unknown {
  if (typeof accumulator !== "object") return accumulator;
  return decodeData(new ByteReader(accumulatorBytes(of, accumulator)));
}

function naming<T>(of: NamedAggregate, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof NotDataError ? noData(of, error.message, error) : error;
  }
}
