import assert from "node:assert/strict";
import { test } from "node:test";
import { objectKey } from "../../epoch/names.ts";
import { countOf, keyOf as numberOf } from "../../state/entries.ts";
import { KeyTable } from "../../state/key-table.ts";
import { insert } from "../../state/test-support.ts";
import { MemoryShuffle } from "./shuffle.ts";

const keyGroups = 4;
const tasks = [
  { from: 0, to: 2 },
  { from: 2, to: 4 },
];
const keyOf = (attempt: number, nonce: string) =>
  objectKey({ pipeline: "p", uid: "u", epoch: 1, attempt, stage: 0, task: 0, nonce }, "shuffle");

function partials(...keys: string[]) {
  const table = new KeyTable();
  for (const [number, key] of keys.entries()) insert(table, Buffer.from(key), number);
  return [
    [{ operator: "window", start: 0, entries: { keys: table, columns: [Float64Array.from(keys, (_, at) => at)] } }],
  ];
}

const found = async (shuffle: MemoryShuffle, key: string, task = 0) =>
  (await shuffle.get(key, tasks[task]!)).flatMap((windows) =>
    windows.flatMap(({ entries }) =>
      Array.from({ length: countOf(entries) }, (_, at) => {
        const { bytes, ends } = entries.keys;
        const key = numberOf(entries, at);
        return bytes.toString("utf8", ends[key], ends[key + 1]);
      }),
    ),
  );

test("what one thread has put another gets, after its parcels have come, as often as it asks", async () => {
  const [writer, reader] = [new MemoryShuffle(keyGroups), new MemoryShuffle(keyGroups)];
  await writer.put(keyOf(1, "n"), partials("a", "b", "c", "d"), tasks);
  const [first, second] = writer.take();
  reader.receive([first!]);
  assert.equal((await found(reader, keyOf(1, "n"))).length, 2);
  assert.equal((await found(reader, keyOf(1, "n"))).length, 2);
  writer.receive([second!]);
  assert.equal((await found(writer, keyOf(1, "n"), 1)).length, 2);
});

test("what is not there is an error of infrastructure, for which the epoch is tried again", async () => {
  const shuffle = new MemoryShuffle(keyGroups);
  await shuffle.put(keyOf(1, "n"), partials("a"), tasks);
  const lost = { code: "shuffle-unreadable", kind: "infrastructure" };
  await assert.rejects(shuffle.get(keyOf(1, "other"), tasks[0]!), lost);
  await assert.rejects(shuffle.get(keyOf(1, "n"), { from: 0, to: 4 }), lost);
  shuffle.take();
  await assert.rejects(shuffle.get(keyOf(1, "n"), tasks[0]!), lost);
});

test("parcels of another attempt take the place of those before", async () => {
  const shuffle = new MemoryShuffle(keyGroups);
  await shuffle.put(keyOf(1, "n"), partials("a"), tasks);
  await shuffle.put(keyOf(1, "m"), partials("b"), tasks);
  assert.equal(shuffle.take().length, 4);
  await shuffle.put(keyOf(1, "n"), partials("a"), tasks);
  await shuffle.put(keyOf(2, "o"), partials("b"), tasks);
  assert.deepEqual([...new Set(shuffle.take().map(({ key }) => key))], [keyOf(2, "o")]);
});
