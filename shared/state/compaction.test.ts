import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChainRun } from "../epoch/epoch.ts";
import { count } from "../operators/aggregates.ts";
import { TestObjects } from "../operators/test-support.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { pipeline } from "../pipeline/pipeline.ts";
import { tumbling } from "../pipeline/windows.ts";
import { ByteWriter } from "./bytes.ts";
import { compacted, spansOf } from "./compaction.ts";
import { encodeKey } from "./key-codec.ts";
import { KeyTable } from "./key-table.ts";
import { Link } from "./link.ts";
import { StateStore } from "./state-store.ts";
import { insert, keyIn } from "./test-support.ts";

/** A chain of one key group that grows by changes of these sizes, none of which overlap; the sizes of all that was written. */
function grow(base: number, changes: readonly number[]) {
  const link = (bytes: number) => new Link("object", bytes, [], [], []);
  let chain = [link(base)];
  let written = 0;
  let longest = 1;
  for (const bytes of changes) {
    const taken = compacted({ from: 0, to: 1 }, [chain], bytes);
    const kept = chain.slice(0, chain.length - taken);
    const size = chain.slice(kept.length).reduce((sum, one) => sum + one.bytes, bytes);
    chain = [...kept, link(size)];
    written += size;
    longest = Math.max(longest, chain.length);
  }
  return { sizes: chain.map(({ bytes }) => bytes), written, longest };
}

test("each delta outweighs those that come after it, and all of them together at most the base", () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3000 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), sizes, (base, changes) => {
      const { sizes } = grow(base, changes);
      let later = 0;
      for (const size of sizes.slice(1).reverse()) {
        assert.ok(size > later, `${sizes}`);
        later += size;
      }
      assert.ok(later <= sizes[0]!, `${sizes}`);
    }),
  );
});

test("a change is written about as often as the logarithm of their number", () => {
  for (const epochs of [100, 1000, 10_000]) {
    const { written, longest } = grow(1e9, new Array<number>(epochs).fill(1));
    assert.ok(written / epochs < 1 + Math.log2(epochs), `${written / epochs} times in ${epochs} epochs`);
    assert.ok(longest <= 2 + Math.log2(epochs), `${longest} objects after ${epochs} epochs`);
  }
});

test("spans are the same wherever tasks cut", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), fc.nat(), (keyGroups, a, b) => {
      const [from, to] = [a % (keyGroups + 1), b % (keyGroups + 1)].sort((one, other) => one - other) as [
        number,
        number,
      ];
      const whole = spansOf({ from: 0, to: keyGroups }, keyGroups);
      assert.ok(whole.length <= 16);
      const expected = whole
        .map((span) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
        .filter((span) => span.from < span.to);
      assert.deepEqual(spansOf({ from, to }, keyGroups), expected);
    }),
  );
});

test("1,000 epochs with 100 changes each of 100,000 keys write a few times the changes, in no epoch much of the state", async () => {
  const keys = 100_000;
  const topology = describe(
    pipeline("test")
      .from(files.source({ path: "in", value: text() }))
      .keyBy((value) => value)
      .window(tumbling(10))
      .aggregate({ count: count() })
      .to(files.sink({ path: "out" })),
  );
  const objects = new TestObjects();
  const store = new StateStore(objects);
  const all = { from: 0, to: topology.keyGroups };
  const model = new Float64Array(keys);
  const writer = new ByteWriter();
  let chains: ChainRun[] = [];
  let savedBytes = 0;
  const epoch = async (number: number, changed: readonly number[]) => {
    const state = await store.load("p", topology, 1, all, chains);
    const table = new KeyTable();
    for (const key of changed) {
      writer.length = 0;
      encodeKey(writer, `key-${key}`);
      insert(table, writer.view());
      model[key] = number;
    }
    const window = state.window(state.operators[0]!, 0);
    const column = () => window.columns[0] as Float64Array;
    for (const at of window.touch({ keys: table, columns: [] })) column()[at] = number;
    chains = await store.save(state, `object-${number}`);
    savedBytes = state.savedBytes();
    const object = objects.objects.get(`object-${number}`)!.length;
    const named = new Set(chains.flatMap((chain) => chain.objects));
    await objects.delete([...objects.objects.keys()].filter((key) => !named.has(key)));
    return object;
  };
  const whole = await epoch(1, [...model.keys()]);
  const stateBytes = savedBytes;
  // What one change costs where nothing is compacted.
  const alone = await epoch(
    2,
    Array.from({ length: 100 }, (_, at) => at * 997),
  );
  let [written, largest, longest] = [0, 0, 0];
  let draw = 1;
  for (let number = 3; number < 1003; number++) {
    const changed = new Set<number>();
    while (changed.size < 100) {
      draw = (Math.imul(draw, 1664525) + 1013904223) >>> 0;
      changed.add(Math.floor((draw / 2 ** 32) * keys));
    }
    const bytes = await epoch(number, [...changed]);
    written += bytes;
    largest = Math.max(largest, bytes);
    longest = Math.max(longest, ...chains.map((chain) => chain.objects.length));
  }
  assert.ok(written < 8 * 1000 * alone, `${written / (1000 * alone)} times the changes`);
  assert.ok(largest < whole / 4, `${largest / whole} of the state at once`);
  assert.ok(longest <= 14, `${longest} objects`);
  assert.ok(chains.length <= 16);
  const cold = await new StateStore(objects).load("p", topology, 1, all, chains);
  assert.equal(cold.savedBytes(), savedBytes);
  assert.ok(savedBytes < 2 * stateBytes, `${savedBytes / stateBytes} times the state`);
  const window = cold.operators[0]!.windows.get(0)!;
  assert.equal(window.count, keys);
  for (let at = 0; at < keys; at++) {
    const key = String(keyIn(window, at)).slice("key-".length);
    assert.equal(window.columns[0]![at], model[Number(key)]);
  }
});
