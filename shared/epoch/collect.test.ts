import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "./collect.ts";
import type { Engine } from "./engine.ts";
import type { EpochRow } from "./epoch.ts";
import { objectKey } from "./names.ts";

const object = (epoch: number) =>
  objectKey({ pipeline: "p", uid: "u", epoch, attempt: 1, stage: 1, task: 0, nonce: "n" }, "snapshot");

/** Epochs 1 to `last`, all decided, whose checkpoints name the object of epoch 1; those up to `dropped` are dropped. */
const rowsUpTo = (last: number, dropped: number): EpochRow[] =>
  Array.from({ length: last }, (_, index) => {
    const epoch = index + 1;
    const objects = [object(1), object(epoch)];
    const checkpoint = { stages: { 1: [{ from: 0, to: 1, objects }] } };
    const row = { epoch, attempt: 1, status: "decided", decision: { checkpoint }, dropped: epoch <= dropped, pins: [] };
    return row as unknown as EpochRow;
  });

test("a collector that was held up deletes nothing that a newer checkpoint names (I5)", async () => {
  let rows = rowsUpTo(5, 2);
  const deleted: string[] = [];
  const ledger = {
    head: async () => ({ decided: 5, committed: 5 }),
    epochs: async ({ from, to }: { from: number; to: number }) => {
      const found = rows.filter(({ epoch }) => epoch >= from && epoch <= to);
      // Meanwhile four epochs are committed, and another collector drops all that this one knows of.
      rows = rowsUpTo(9, 6);
      return found;
    },
    trim: async () => 0,
  };
  const objects = {
    async *list() {
      for (let epoch = 1; epoch <= 9; epoch++) yield object(epoch);
    },
    delete: async (keys: readonly string[]) => void deleted.push(...keys),
  };
  const engine = { ledger, objects, uid: "u", topology: { name: "p", sinks: {} } } as unknown as Engine;
  await collect(engine, { checkpoints: 3, history: 100 });
  assert.deepEqual(deleted, [2, 3, 4, 5].map(object));
});
