import assert from "node:assert/strict";
import { aggregate, count } from "../operators/aggregates.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { pipeline } from "../pipeline/pipeline.ts";
import type { Key, Topology } from "../pipeline/topology.ts";
import { tumbling } from "../pipeline/windows.ts";
import { ByteWriter } from "./bytes.ts";
import { keyOf } from "./entries.ts";
import { decodeKey, encodeKey, keyGroupOf } from "./key-codec.ts";
import { KeyTable } from "./key-table.ts";
import type { StageState } from "./stage-state.ts";
import type { WindowState } from "./window-state.ts";

/** Two stateful operators, of which one has accumulators that are no numbers. */
export function makeTopology(keyGroups: number): Topology {
  const keyed = pipeline("test", { keyGroups })
    .from(files.source({ path: "in", value: text() }))
    .keyBy((value) => value);
  const last = aggregate<unknown, unknown, unknown>({
    init: () => null,
    add: (_, value) => value,
    merge: (_, other) => other,
    result: (value) => value,
  });
  const sink = files.sink({ path: "out" });
  keyed.window(tumbling(10), { id: "one" }).aggregate({ count: count(), last }).to(sink);
  const two = keyed.window(tumbling(10), { id: "two" }).aggregate({ count: count() });
  return describe(two.to(sink));
}

/** A table of these encoded keys. */
export function tableOf(keys: readonly Uint8Array[]): KeyTable {
  const table = new KeyTable();
  for (const key of keys) insert(table, key);
  return table;
}

/** The number of an encoded key in a table, which inserts it if it is new. @param hash in place of its own */
export function insert(table: KeyTable, key: Uint8Array, hash?: number): number {
  const numbers = new Int32Array(1);
  const inPlace = { bytes: key, starts: Int32Array.of(0), ends: Int32Array.of(key.length) };
  table.locateAll({ ...inPlace, ...(hash !== undefined && { hashes: Int32Array.of(hash) }) }, 0, 1, numbers);
  return numbers[0]!;
}

/** One change of the state: sets an entry, or removes a window. */
export type Change = { operator: string; start: number; key?: string; value: number };

export function apply(state: StageState, change: Change): void {
  const operator = state.operator(change.operator);
  if (change.key === undefined) {
    state.remove(operator, change.start);
    return;
  }
  const writer = new ByteWriter();
  encodeKey(writer, change.key);
  const keys = tableOf([writer.view()]);
  const group = keyGroupOf(keys.hashes[0]!, state.topology.keyGroups);
  if (group < state.groups.from || group >= state.groups.to) return;
  const window = state.window(operator, change.start);
  const [number] = window.touch({ keys, columns: [] });
  window.columns[0]![number!] = change.value;
  if (window.columns[1] !== undefined) window.columns[1][number!] = { value: `v${change.value}` };
}

/** Values by operator, window and key. */
export type Model = Map<string, number>;

export function applyToModel(model: Model, { operator, start, key, value }: Change): void {
  if (key !== undefined) model.set(JSON.stringify([operator, start, key]), value);
  else for (const id of [...model.keys()]) if (id.startsWith(`["${operator}",${start},`)) model.delete(id);
}

export function contents(state: StageState): Model {
  const model: Model = new Map();
  for (const { node, windows } of state.operators) {
    for (const [start, window] of windows) {
      const { columns } = window;
      for (let number = 0; number < window.count; number++) {
        const key = keyIn(window, number);
        const value = columns[0]![number] as number;
        if (columns[1] !== undefined) assert.deepEqual(columns[1][number], { value: `v${value}` });
        model.set(JSON.stringify([node.id, start, key]), value);
      }
    }
  }
  return model;
}

/** The key that has this number in a window. */
export function keyIn(window: WindowState, number: number): Key {
  const { bytes, ends } = window.keys;
  const key = keyOf(window, number);
  return decodeKey(bytes, ends[key]!, ends[key + 1]!);
}

export function sorted(model: Model): [string, number][] {
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1));
}
