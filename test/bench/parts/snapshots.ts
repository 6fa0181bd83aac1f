import { MemoryObjectStore } from "../../../shared/adapters/memory/object-store.ts";
import type { ChainRun } from "../../../shared/epoch/epoch.ts";
import type { StageState } from "../../../shared/state/stage-state.ts";
import { StateStore } from "../../../shared/state/state-store.ts";
import { type CountRow, checkRows, type WordCounts } from "../count-words.ts";
import type { Part, Prepared } from "./part.ts";
import { batchesOf, loadState, processInto, type Records, rowsOf, topologyOf } from "./word-count.ts";

const time = 1_700_000_000_000;
const topology = topologyOf();

/** One word a record, all of one window. */
function wordsOf(keys: number, from = 0): Records {
  const values = Array.from({ length: keys }, (_, index) => `user-${from + index}`);
  return { values, times: values.map(() => time) };
}

/** Objects in memory, and the state that is saved there. */
interface Saved {
  readonly store: StateStore;
  readonly objects: MemoryObjectStore;
  readonly chains: readonly ChainRun[];
}

async function check({ objects, chains }: Saved, expected: WordCounts): Promise<void> {
  const state = await loadState(new StateStore(objects), topology, chains);
  await checkRows(rowsOf<CountRow>(topology, state), expected);
}

function countsOf(keys: number, touched = 0): WordCounts {
  return new Map(Array.from({ length: keys }, (_, key) => [`${time} user-${key}`, key < touched ? 2 : 1]));
}

/** A state of so many keys, of which nothing is saved. */
async function filled(keys: number): Promise<Saved & { readonly state: StageState }> {
  const objects = new MemoryObjectStore();
  const store = new StateStore(objects);
  const state = await loadState(store, topology, []);
  processInto(topology, state, batchesOf(wordsOf(keys)));
  return { store, objects, chains: [], state };
}

async function save({ store, objects }: Omit<Saved, "chains">, state: StageState, name: string): Promise<Saved> {
  return { store, objects, chains: await store.save(state, name) };
}

const whole: Part = {
  name: "snapshot-whole",
  about: "all keys of a state, encoded and compressed",
  unit: "key",
  async prepare({ keys }): Promise<Prepared<Saved>> {
    const expected = countsOf(keys);
    return {
      units: keys,
      async ready() {
        const made = await filled(keys);
        return () => save(made, made.state, "whole");
      },
      check: (saved) => check(saved, expected),
    };
  },
};

/** One key of so many is touched. */
const everyTouched = 10;

const delta: Part = {
  name: "snapshot-delta",
  about: `the keys that changed, one in ${everyTouched}, encoded and compressed`,
  unit: "key",
  async prepare({ keys }): Promise<Prepared<Saved>> {
    const touched = Math.ceil(keys / everyTouched);
    const expected = countsOf(keys, touched);
    const change = batchesOf(wordsOf(touched));
    return {
      units: touched,
      async ready() {
        const made = await filled(keys);
        const { chains } = await save(made, made.state, "whole");
        const state = await loadState(made.store, topology, chains);
        processInto(topology, state, change);
        return () => save(made, state, "delta");
      },
      check: (saved) => check(saved, expected),
    };
  },
};

const restore: Part = {
  name: "snapshot-restore",
  about: "all keys of a state, read back by a cold worker",
  unit: "key",
  async prepare({ keys }): Promise<Prepared<StageState>> {
    const expected = countsOf(keys);
    const made = await filled(keys);
    const { objects, chains } = await save(made, made.state, "whole");
    return {
      units: keys,
      ready: async () => () => loadState(new StateStore(objects), topology, chains),
      check: (state) => checkRows(rowsOf<CountRow>(topology, state), expected),
    };
  },
};

export const snapshots: readonly Part[] = [whole, delta, restore];
