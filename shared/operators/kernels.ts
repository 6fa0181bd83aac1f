import { pointerOf } from "../pipeline/pointer.ts";
import type { AnyAggregate } from "../state/columns.ts";

/** Adds a value to the accumulators `numbers[0, count)`, as many calls of `add` would. */
export type Kernel = (column: Float64Array, numbers: Int32Array, count: number) => void;

const kernels = new WeakMap<AnyAggregate["add"], Kernel>();

/** Says how to do many calls of `add`, which looks at no value and cannot fail, in one loop. Whoever puts another `add` into an aggregate does without. */
export function withKernel<Add>(add: Add, kernel: Kernel): Add {
  kernels.set(add as AnyAggregate["add"], kernel);
  return add;
}

export function kernelOf({ add, numeric }: AnyAggregate): Kernel | undefined {
  return numeric === true ? kernels.get(add) : undefined;
}

/** What an aggregate folds of each value: `add` of the aggregate is this `add` of what the pointer leads to. */
export interface FieldFold {
  readonly pointer: string;
  add(accumulator: unknown, found: unknown): unknown;
}

const fieldAdds = new WeakMap<AnyAggregate["add"], FieldFold["add"]>();

/** Says how an `add` that was made of a pointer adds what the pointer has found. */
export function withFieldAdd<Add>(add: Add, fieldAdd: (accumulator: never, found: unknown) => unknown): Add {
  fieldAdds.set(add as AnyAggregate["add"], fieldAdd as FieldFold["add"]);
  return add;
}

export function fieldFoldOf({ add }: Pick<AnyAggregate, "add">): FieldFold | undefined {
  const fieldAdd = fieldAdds.get(add);
  return fieldAdd && { pointer: pointerOf(add) as string, add: fieldAdd };
}
