import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { ChainRun } from "../epoch/epoch.ts";
import { TestObjects } from "../operators/test-support.ts";
import { StateStore } from "./state-store.ts";
import { apply, applyToModel, type Change, contents, makeTopology, sorted } from "./test-support.ts";

/**
 * What an engine that compacted each key group by itself left after 14 epochs of one to three tasks: entries that changed, and windows that went, some of which
 * came again. Each key group has a chain of its own, of up to five objects.
 */
interface Earlier {
  readonly chains: readonly ChainRun[];
  /** In base64. */
  readonly objects: Readonly<Record<string, string>>;
  readonly entries: readonly [string, number][];
}

const earlier: Earlier = JSON.parse(readFileSync(new URL("fixtures/earlier-state.json", import.meta.url), "utf8"));
const topology = makeTopology(40);
const all = { from: 0, to: 40 };

test("state that was written when key groups were compacted one by one goes on", async () => {
  const objects = new TestObjects();
  for (const [key, bytes] of Object.entries(earlier.objects)) objects.objects.set(key, Buffer.from(bytes, "base64"));
  const store = new StateStore(objects);
  const model = new Map(earlier.entries);
  let chains = earlier.chains;
  assert.deepEqual(sorted(contents(await new StateStore(objects).load("p", topology, 1, all, chains))), sorted(model));
  for (let epoch = 1; epoch <= 30; epoch++) {
    const state = await store.load("p", topology, 1, all, chains);
    const changes: Change[] = Array.from({ length: 6 }, (_, at) => ({
      operator: at % 2 === 0 ? "one" : "two",
      start: (epoch % 3) * 10,
      key: `key-${(epoch * 7 + at * 5) % 40}`,
      value: epoch,
    }));
    if (epoch % 10 === 0) changes.unshift({ operator: "one", start: 0, value: 0 });
    for (const change of changes) {
      apply(state, change);
      applyToModel(model, change);
    }
    chains = await store.save(state, `new-${epoch}`);
    const cold = await new StateStore(objects).load("p", topology, 1, all, chains);
    assert.deepEqual(sorted(contents(cold)), sorted(model));
  }
  assert.ok(chains.length <= 16, "spans have one chain again");
});
