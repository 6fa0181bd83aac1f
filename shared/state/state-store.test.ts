import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChainRun } from "../epoch/epoch.ts";
import { LossError, UserCodeError } from "../errors.ts";
import { shares, TestObjects } from "../operators/test-support.ts";
import { keyOf } from "./entries.ts";
import { keyGroupOf } from "./key-codec.ts";
import type { GroupRange, StageState } from "./stage-state.ts";
import { StateStore } from "./state-store.ts";
import { apply, applyToModel, type Change, contents, keyIn, type Model, makeTopology, sorted } from "./test-support.ts";

const keyGroups = 8;
const topology = makeTopology(keyGroups);
/** More than there are spans (compaction.ts): two or three of them make one. */
const manyGroups = makeTopology(40);

const change = fc.record<Change, "operator" | "start" | "value">(
  {
    operator: fc.constantFrom("one", "two"),
    start: fc.constantFrom(-10, 0, 10),
    key: fc.integer({ min: 0, max: 25 }).map((number) => `key-${number}`),
    value: fc.nat(100),
  },
  { requiredKeys: ["operator", "start", "value"] },
);
/** Removing whole windows as often as setting entries would leave little to test. */
const changes = fc.array(
  fc.oneof({ weight: 1, arbitrary: change }, { weight: 9, arbitrary: change.filter(({ key }) => key !== undefined) }),
  {
    maxLength: 12,
  },
);
const epochs = fc.array(
  fc.record({ changes, tasks: fc.integer({ min: 1, max: 3 }), worker: fc.nat(1), undecided: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 40,
  },
);

test("any history of epochs, tasks, workers and failed attempts gives the state of a plain Map", async () => {
  await fc.assert(
    fc.asyncProperty(epochs, fc.constantFrom(topology, manyGroups), async (list, topology) => {
      const { keyGroups } = topology;
      const objects = new TestObjects();
      const workers = [new StateStore(objects), new StateStore(objects)];
      const model: Model = new Map();
      let chains: ChainRun[] = [];
      for (const [epoch, { changes, tasks, worker, undecided }] of list.entries()) {
        const run = async (attempt: number) => {
          const next: ChainRun[] = [];
          for (const [task, groups] of shares(keyGroups, tasks).entries()) {
            const store = workers[(worker + task) % 2]!;
            const state = await store.load("p/uid", topology, 1, groups, chains);
            for (const one of changes) apply(state, one);
            next.push(...(await store.save(state, `e${epoch}-a${attempt}-t${task}`)));
          }
          return next;
        };
        // What an attempt wrote that was not decided must not be seen by the next one, warm or cold.
        if (undecided) await run(0);
        chains = await run(1);
        for (const one of changes) applyToModel(model, one);
        assert.ok(chains.every((chain) => chain.objects.length <= 8));
        // I5: what no chain names may be deleted.
        const named = new Set(chains.flatMap((chain) => chain.objects));
        await objects.delete([...objects.objects.keys()].filter((key) => !named.has(key)));
        const cold = await new StateStore(objects).load("p/uid", topology, 1, { from: 0, to: keyGroups }, chains);
        assert.deepEqual(sorted(contents(cold)), sorted(model));
      }
    }),
    { numRuns: 60 },
  );
});

async function saved(
  list: readonly Change[][],
  objects = new TestObjects(),
): Promise<{ objects: TestObjects; chains: ChainRun[] }> {
  const store = new StateStore(objects);
  let chains: ChainRun[] = [];
  for (const [epoch, changes] of list.entries()) {
    const state = await store.load("p", topology, 1, { from: 0, to: keyGroups }, chains);
    for (const one of changes) apply(state, one);
    chains = await store.save(state, `object-${epoch}`);
  }
  return { objects, chains };
}

const set = (key: string, value = 1, start = 0): Change => ({ operator: "one", start, key, value });
const everyKey = Array.from({ length: 40 }, (_, at) => set(`key-${at}`));

test("equal state makes equal bytes, whatever order it came in", async () => {
  const [a, b] = await Promise.all([saved([everyKey]), saved([everyKey.toReversed()])]);
  assert.deepEqual(a.objects.objects, b.objects.objects);
});

test("a delta is what changed, and nothing writes nothing", async () => {
  const { objects, chains } = await saved([everyKey, [set("key-1", 2)], [], [set("key-1", 3)]]);
  assert.deepEqual([...objects.objects.keys()], ["object-0", "object-1", "object-3"]);
  assert.ok(objects.objects.get("object-1")!.length < objects.objects.get("object-0")!.length / 2);
  const longest = chains.filter((chain) => chain.objects.length > 1);
  assert.equal(longest.length, 1);
  assert.equal(longest[0]!.to - longest[0]!.from, 1);
});

test("a delta takes in those before it that are of its size, from memory, and never the base before time", async () => {
  const many = Array.from({ length: 400 }, (_, at) => set(`key-${at}`));
  const { objects, chains } = await saved([many, [set("key-1", 2)], [set("key-1", 3)], [set("key-1", 4)]]);
  const chain = chains.find(({ objects }) => objects.includes("object-3"))!;
  assert.deepEqual(chain.objects, ["object-0", "object-3"]);
  const sizes = [...objects.objects.values()].map(({ length }) => length);
  assert.equal(sizes[3], sizes[1], "the same key is in it once");
});

test("deltas that outweigh their base are compacted", async () => {
  const long = "k".repeat(100);
  const { chains } = await saved([[set(long, 0)], [set(long, 1)], [set(long, 2)], [set(long, 3)]]);
  assert.deepEqual(
    chains.map(({ objects }) => objects).filter((objects) => objects.length > 0),
    [["object-3"]],
  );
});

test("what is gone for good is in no object that is written later", async () => {
  const start = (at: number) => everyKey.map((one) => ({ ...one, start: at }));
  const remove = (at: number) => ({ operator: "one", start: at, value: 0 });
  // Window 0 is in the base; 10 comes and goes in deltas; 20 goes and comes again.
  const { objects, chains } = await saved([
    [...start(0), ...start(20)],
    [{ ...set("key-1", 5), start: 10 }],
    [remove(10), remove(20)],
    [{ ...set("key-1", 6), start: 20 }],
  ]);
  const names = chains.flatMap((chain) => chain.objects);
  await objects.delete([...objects.objects.keys()].filter((key) => !names.includes(key)));
  const state = await new StateStore(objects).load("p", topology, 1, { from: 0, to: keyGroups }, chains);
  assert.deepEqual([...state.operator("one").windows.keys()].sort(), [0, 20]);
  assert.equal(state.operator("one").windows.get(20)!.count, 1);
  const group = chains.find((chain) => chain.objects.includes("object-3"))!;
  assert.ok(group.objects.length <= 2);
});

test("a window that came and went between two objects leaves no trace in the one that takes both their places", async () => {
  const many = Array.from({ length: 400 }, (_, at) => set(`key-${at}`));
  const remove = { operator: "one", start: 10, value: 0 };
  const [came, never] = await Promise.all([
    saved([many, [set("key-1", 2, 10)], [remove, set("key-1", 3)]]),
    saved([many, [set("key-1", 2)], [set("key-1", 3)]]),
  ]);
  assert.deepEqual(came.chains, never.chains);
  assert.deepEqual(came.objects.objects.get("object-2"), never.objects.objects.get("object-2"));
});

test("what is written is the same bytes, whether state is warm, read again, or put together from others", async () => {
  type Load = (store: StateStore, chains: ChainRun[], objects: TestObjects) => Promise<StageState>;
  const warm: Load = (store, chains) => store.load("p", topology, 1, { from: 0, to: keyGroups }, chains);
  const cold: Load = (_, chains, objects) => warm(new StateStore(objects), chains, objects);
  const inParts: Load = async (store, chains, objects) => {
    for (const groups of shares(keyGroups, 3))
      await store.save(await store.load("p", topology, 1, groups, chains), "unused");
    return await warm(store, chains, objects);
  };
  const run = async (list: readonly Change[][], load: Load) => {
    const objects = new TestObjects();
    const store = new StateStore(objects);
    let chains: ChainRun[] = [];
    for (const [epoch, changes] of list.entries()) {
      const state = await load(store, chains, objects);
      for (const one of changes) apply(state, one);
      chains = await store.save(state, `object-${epoch}`);
    }
    return { chains, objects: objects.objects };
  };
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 30, size: "max" }), async (list) => {
      const expected = await run(list, warm);
      assert.deepEqual(await run(list, cold), expected);
      assert.deepEqual(await run(list, inParts), expected);
    }),
    { numRuns: 30 },
  );
});

test("keys that are purged are gone, and all others go on, warm and cold", async () => {
  const epochs = fc.array(fc.record({ changes, least: fc.nat(120), third: fc.nat(2) }), {
    minLength: 1,
    maxLength: 15,
    size: "max",
  });
  const all = { from: 0, to: keyGroups };
  await fc.assert(
    fc.asyncProperty(epochs, async (list) => {
      const objects = new TestObjects();
      const store = new StateStore(objects);
      const model: Model = new Map();
      let chains: ChainRun[] = [];
      for (const [epoch, { changes, least, third }] of list.entries()) {
        const state = await store.load("p", topology, 1, all, chains);
        for (const one of changes) {
          apply(state, one);
          applyToModel(model, one);
        }
        const window = state.operator("two").windows.get(0);
        if (window !== undefined) {
          const purged = new Uint8Array(keyGroups);
          const kept: number[] = [];
          for (let number = 0; number < window.count; number++) {
            const group = keyGroupOf(window.keys.hashes[keyOf(window, number)]!, keyGroups);
            const value = window.columns[0]![number] as number;
            if (group % 3 !== third || value >= least) {
              kept.push(number);
              continue;
            }
            purged[group] = 1;
            model.delete(JSON.stringify(["two", 0, keyIn(window, number)]));
          }
          state.purge(window, Int32Array.from(kept), purged);
        }
        chains = await store.save(state, `object-${epoch}`);
        const cold = await new StateStore(objects).load("p", topology, 1, all, chains);
        assert.deepEqual(sorted(contents(cold)), sorted(model));
      }
    }),
    { numRuns: 40 },
  );
});

test("tasks that come together write their key groups with one chain again", async () => {
  const objects = new TestObjects();
  const store = new StateStore(objects);
  const { keyGroups } = manyGroups;
  const many = Array.from({ length: 400 }, (_, at) => set(`key-${at}`));
  let chains: ChainRun[] = [];
  for (const [epoch, tasks] of [7, 1, 1, 1].entries()) {
    const next: ChainRun[] = [];
    for (const [task, groups] of shares(keyGroups, tasks).entries()) {
      const state = await store.load("p", manyGroups, 1, groups, chains);
      for (const one of many) apply(state, { ...one, value: epoch });
      next.push(...(await store.save(state, `e${epoch}-t${task}`)));
    }
    chains = next;
  }
  assert.ok(chains.length <= 16, `${chains.length} chains`);
});

test("key groups without state have no objects", async () => {
  const remove = { operator: "one", start: 0, value: 0 };
  const { objects, chains } = await saved([everyKey, [remove]]);
  assert.deepEqual(chains, [{ from: 0, to: keyGroups, objects: [] }]);
  assert.deepEqual([...objects.objects.keys()], ["object-0"]);
});

test("warm state is used only for the chain that it was written to, and only once", async () => {
  const { objects, chains } = await saved([everyKey]);
  const store = new StateStore(objects);
  const all: GroupRange = { from: 0, to: keyGroups };
  const reads = async (groups: GroupRange, wanted: readonly ChainRun[]) => {
    const before = objects.bytesRead;
    const state = await store.load("p", topology, 1, groups, wanted);
    return { state, bytes: objects.bytesRead - before };
  };
  const first = await reads(all, chains);
  assert.ok(first.bytes > 0);
  const twin = await reads(all, chains);
  assert.ok(twin.bytes > 0 && twin.state !== first.state, "the first task still has it");
  await store.save(first.state, "unused");
  const warm = await reads(all, chains);
  assert.equal(warm.bytes, 0);
  apply(warm.state, set("key-1", 5));
  const retry = await reads(all, chains);
  assert.equal(contents(retry.state).get('["one",0,"key-1"]'), 1, "an attempt that failed does not show");
  await store.save(retry.state, "unused");
  const half = await reads({ from: 2, to: 5 }, chains);
  assert.equal(half.bytes, 0, "part of it");
  apply(half.state, set("key-1", 7));
  for (const key of ["key-2", "key-3", "key-4", "key-5"]) apply(half.state, set(key, 7));
  await store.save(half.state, "fenced");
  const again = await reads({ from: 2, to: 5 }, chains);
  assert.ok(again.bytes > 0, "what it has now is not what the ledger names");
  assert.ok([...contents(again.state).values()].every((value) => value === 1));
});

test("the size of what it was saved to is the same, warm or read again, whole or in parts", async () => {
  const { objects, chains } = await saved([everyKey, [set("key-1", 2)]]);
  const sizeOf = async (store: StateStore, groups: GroupRange) => {
    const state = await store.load("p", topology, 1, groups, chains);
    const bytes = state.savedBytes();
    await store.save(state, "unused");
    return bytes;
  };
  const store = new StateStore(objects);
  const all: GroupRange = { from: 0, to: keyGroups };
  const cold = await sizeOf(store, all);
  assert.ok(cold > everyKey.length);
  assert.equal(await sizeOf(store, all), cold);
  const parts = [
    await sizeOf(store, { from: 0, to: 3 }),
    await sizeOf(new StateStore(objects), { from: 3, to: keyGroups }),
  ];
  assert.equal(parts[0]! + parts[1]!, cold);
});

test("a missing object is a loss that names it", async () => {
  const { objects, chains } = await saved([everyKey, [set("key-1", 2)]]);
  await objects.delete(["object-1"]);
  await assert.rejects(
    new StateStore(objects).load("p", topology, 1, { from: 0, to: keyGroups }, chains),
    (error) =>
      error instanceof LossError &&
      error.code === "snapshot-missing" &&
      error.message.includes('"object-1"') &&
      error.wayOut !== undefined,
  );
});

test("any byte flipped, and any end cut off, is a loss that names the object", async () => {
  const { objects, chains } = await saved([everyKey.slice(0, 12), [set("key-1", 2)]]);
  for (const [key, whole] of [...objects.objects]) {
    for (let at = 0; at < whole.length; at++) {
      const flipped = Uint8Array.from(whole);
      flipped[at]! ^= 1 << (at % 8);
      for (const damaged of [flipped, whole.subarray(0, at)]) {
        objects.objects.set(key, damaged);
        await assert.rejects(
          new StateStore(objects).load("p", topology, 1, { from: 0, to: keyGroups }, chains),
          (error) =>
            error instanceof LossError && error.code === "snapshot-corrupt" && error.message.includes(`"${key}"`),
          `${key} at ${at}`,
        );
      }
    }
    objects.objects.set(key, whole);
  }
});

test("objects in the wrong order, or of another pipeline, are refused", async () => {
  const { objects, chains } = await saved([everyKey, [set("key-1", 2)]]);
  const { from, objects: chain } = chains.find(({ objects }) => objects.length === 2)!;
  const load = (list: readonly string[], of = topology) =>
    new StateStore(objects).load("p", of, 1, { from, to: from + 1 }, [{ from, to: from + 1, objects: list }]);
  for (const list of [chain.toReversed(), chain.slice(1)]) {
    await assert.rejects(load(list), (error) => error instanceof LossError && error.code === "snapshot-corrupt");
  }
  await assert.rejects(load(chain, { ...topology, keyGroups: keyGroups * 3 }), /another key group/);
});

test("an accumulator that is no data names its aggregate", async () => {
  const store = new StateStore(new TestObjects());
  const state = await store.load("p", topology, 1, { from: 0, to: keyGroups }, []);
  apply(state, set("key-1"));
  state.operator("one").windows.get(0)!.columns[1]![0] = () => 1;
  await assert.rejects(
    store.save(state, "object"),
    (error) => error instanceof UserCodeError && /"last".*"one".*function/.test(error.message),
  );
});

test("keys of windows that are gone do not gather in memory", async () => {
  const store = new StateStore(new TestObjects());
  let chains: ChainRun[] = [];
  for (let epoch = 0; epoch < 6; epoch++) {
    const state = await store.load("p", topology, 1, { from: 0, to: keyGroups }, chains);
    const operator = state.operator("two");
    for (let key = 0; key < 8000; key++)
      apply(state, { operator: "two", start: epoch * 10, key: `${epoch}-${key}`, value: key });
    state.remove(operator, (epoch - 1) * 10);
    chains = await store.save(state, `object-${epoch}`);
    assert.ok(operator.dictionary!.keys.count < 40_000, `${operator.dictionary!.keys.count} keys`);
    assert.equal(contents(state).size, 8000);
  }
});
