import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Dictionary } from "./dictionary.ts";
import type { Entries } from "./entries.ts";
import type { KeyOrder } from "./key-order.ts";
import type { KeyTable } from "./key-table.ts";
import { insert, tableOf } from "./test-support.ts";
import { OwnKeys, SharedKeys, type WindowKeys } from "./window-keys.ts";

const keyGroups = 8;
const keyOf = (number: number) => Buffer.from(`\u0001key-${number}`);

/** Of these keys: each with its own, or those of a table that more entries come from. */
function entriesOf(given: readonly number[], table?: KeyTable): Pick<Entries, "keys" | "numbers"> {
  if (table === undefined) return { keys: tableOf(given.map(keyOf)) };
  return { keys: table, numbers: Int32Array.from(given, (number) => insert(table, keyOf(number))) };
}

function textAt({ column: { bytes, ends }, cells }: WindowKeys, number: number): string {
  const key = cells === undefined ? number : cells.keys[number]!;
  return bytes.toString("latin1", ends[key], ends[key + 1]);
}

function textsOf(keys: WindowKeys, { order, starts }: KeyOrder) {
  return { texts: Array.from(order, (number) => textAt(keys, number)), starts };
}

const someKeys = fc.uniqueArray(fc.nat(200), { maxLength: 60 });
const step = fc.record({ window: fc.nat(2), keys: someKeys, shares: fc.boolean(), chosen: fc.array(fc.nat(1000)) });

test("windows that share keys have them as if they were their own: the same numbers, in the same order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const dictionary = new Dictionary();
      const shared = [0, 1, 2].map(() => new SharedKeys(dictionary));
      const own = [0, 1, 2].map(() => new OwnKeys());
      // It grows as keys are met, as that of a source does.
      const table = tableOf([]);
      for (const { window, keys, shares, chosen } of steps) {
        const [one, other] = [shared[window]!, own[window]!];
        const given = entriesOf(keys, shares ? table : undefined);
        assert.deepEqual(one.locate(given), other.locate(given));
        assert.equal(one.count, other.count);
        assert.deepEqual(textsOf(one, one.inOrder(keyGroups)), textsOf(other, other.inOrder(keyGroups)));
        const few = Int32Array.from(new Set(chosen.map((number) => number % one.count || 0)));
        if (one.count > 0)
          assert.deepEqual(textsOf(one, one.inOrder(keyGroups, few)), textsOf(other, other.inOrder(keyGroups, few)));
      }
      dictionary.forgetUnused(shared.map(({ cells }) => cells));
    }),
  );
});

test("a dictionary forgets what no window has, and the windows that stay have the same keys under the same numbers", () => {
  const dictionary = new Dictionary();
  const [stays, empty, model] = [new SharedKeys(dictionary), new SharedKeys(dictionary), new OwnKeys()];
  const texts = (keys: WindowKeys) => Array.from({ length: keys.count }, (_, number) => textAt(keys, number));
  let largest = 0;
  for (let begin = 0; begin < 200_000; begin += 10_000) {
    const passes = new SharedKeys(dictionary);
    const table = tableOf([]);
    passes.locate(entriesOf(range(begin, begin + 10_000), table));
    // Some that are known, and some from among many that will be forgotten.
    const given = [...new Set([...range(0, 20), ...range(0, 100).map((index) => begin + index * (50 + begin / 5000))])];
    for (const entries of [entriesOf(given, table), entriesOf(given)])
      assert.deepEqual(stays.locate(entries), model.locate(entriesOf(given)));
    const ordered = textsOf(passes, passes.inOrder(keyGroups));
    dictionary.forgetUnused([stays.cells, empty.cells, passes.cells]);
    assert.deepEqual(textsOf(passes, passes.inOrder(keyGroups)), ordered);
    dictionary.forgetUnused([stays.cells, empty.cells]);
    largest = Math.max(largest, dictionary.keys.count);
    assert.deepEqual(texts(stays), texts(model));
    assert.deepEqual(stays.locate(entriesOf(given, table)), model.locate(entriesOf(given)));
  }
  assert.ok(largest < 40_000, `${largest} keys`);
});

test("keys are sorted again where others have taken the place of those that are forgotten", () => {
  const dictionary = new Dictionary();
  const [before, after] = [new SharedKeys(dictionary), new SharedKeys(dictionary)];
  before.locate(entriesOf(range(0, 20_000)));
  before.inOrder(keyGroups);
  dictionary.forgetUnused([after.cells]);
  after.locate(entriesOf(range(20_000, 40_000)));
  const own = new OwnKeys();
  own.locate(entriesOf(range(20_000, 40_000)));
  assert.deepEqual(textsOf(after, after.inOrder(keyGroups)), textsOf(own, own.inOrder(keyGroups)));
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
