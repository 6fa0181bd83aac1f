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
