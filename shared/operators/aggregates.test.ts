import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Aggregate, aggregate, average, collect, count, max, min, reduce, sum } from "./aggregates.ts";

const fold = <T, A>(of: Aggregate<T, A, unknown>, values: readonly T[]) =>
  values.reduce((accumulator, value) => of.add(accumulator, value), of.init());
const over = <T, A, R>(of: Aggregate<T, A, R>, values: readonly T[]) => of.result(fold(of, values));
const itself = (value: number) => value;

test("each gives what its name says", () => {
  const values = [3, -1, 7, 7, 0];
  assert.equal(over(count(), values), 5);
  assert.equal(over(sum(itself), values), 16);
  assert.equal(over(min(itself), values), -1);
  assert.equal(over(max(itself), values), 7);
  assert.equal(over(average(itself), values), 3.2);
  assert.deepEqual(over(collect<number>(), values), values);
  assert.deepEqual(over(collect(String), values), ["3", "-1", "7", "7", "0"]);
  assert.equal(
    over(
      reduce((left: number, right: number) => left * 2 + right),
      [1, 1, 1],
    ),
    7,
  );
  assert.equal(
    over(
      reduce((left: string, right: string) => left + right, ">"),
      ["a", "b"],
    ),
    ">ab",
  );
});

test("partials that are merged in order give what one fold gives", () => {
  const word = reduce((left: string, right: string) => left + right, "initial");
  const all: Aggregate<number, never, unknown>[] = [
    count(),
    sum(itself),
    min(itself),
    max(itself),
    average(itself),
  ].map((each) => each as Aggregate<number, never, unknown>);
  all.push(collect<number>() as never, { ...word, add: (a: never, value: number) => word.add(a, `${value}`) } as never);
  const parts = fc.array(fc.array(fc.integer()), { minLength: 1 }).filter((given) => given.flat().length > 0);
  for (const each of all) {
    fc.assert(
      fc.property(parts, (given) => {
        const merged = given.map((part) => fold(each, part)).reduce((left, right) => each.merge(left, right));
        assert.deepEqual(each.result(merged), over(each, given.flat()), each.name);
      }),
    );
  }
});

test("a result may be asked for again and again, and is not changed by what comes after", () => {
  const values = collect<number>();
  const accumulator = fold(values, [1, 2]);
  const first = values.result(accumulator);
  values.add(accumulator, 3);
  assert.deepEqual(first, [1, 2]);
  assert.deepEqual(values.result(accumulator), [1, 2, 3]);
  const joined = reduce((left: string, right: string) => left + right, ">");
  const word = fold(joined, ["a"]);
  assert.deepEqual([joined.result(word), joined.result(word)], [">a", ">a"]);
});

test("a great many collected values can be merged", () => {
  const values = collect<number>();
  const many = Array.from({ length: 500_000 }, (_, index) => index);
  assert.equal(values.merge([1], many).length, 500_001);
});

test("what is no finite number is refused, and the accumulator stays as it was", () => {
  for (const [of, name] of [
    [sum, "sum"],
    [min, "min"],
    [max, "max"],
    [average, "average"],
  ] as const) {
    const numbers: Aggregate<unknown, unknown, number> = of((value: unknown) => value as number);
    const accumulator = fold(numbers, [2, 4]);
    const before = numbers.result(accumulator);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, "5", undefined, null, 5n, Promise.resolve(5)]) {
      const message = new RegExp(`given to ${name}\\(\\)`);
      assert.throws(() => numbers.add(accumulator, bad), { code: "not-a-number", kind: "user", message });
    }
    assert.equal(numbers.result(accumulator), before);
  }
});

test("numeric ones say so, and keep a plain number", () => {
  for (const each of [count(), sum(itself), min(itself), max(itself)]) {
    assert.equal(each.numeric, true);
    assert.equal(typeof each.init(), "number");
  }
  for (const each of [average(itself), collect(), reduce(itself)]) assert.equal(each.numeric, undefined);
});

test("one's own needs no name", () => {
  const parts = { init: () => 0, add: (a: number, b: number) => a | b, merge: (a: number, b: number) => a | b };
  const bits = aggregate({ ...parts, result: (accumulator: number) => accumulator.toString(2) });
  assert.equal(bits.name, "custom");
  assert.equal(over(bits, [1, 4]), "101");
  assert.equal(aggregate({ name: "bits", ...parts, result: Number }).name, "bits");
});
