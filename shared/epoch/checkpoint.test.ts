import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkpointOf } from "./checkpoint.ts";
import type { Ack, ChainRun, EpochRow } from "./epoch.ts";
import { objectKey } from "./names.ts";

const row = { epoch: 5, attempt: 2 } as EpochRow;
const object = (epoch: number, attempt: number) =>
  objectKey({ pipeline: "p", uid: "u", epoch, attempt, stage: 1, task: 0, nonce: "n" }, "snapshot");
const ack = (...runs: ChainRun[]) => ({ chains: { 1: runs } }) as unknown as Ack;
const run = (from: number, to: number, ...objects: string[]): ChainRun => ({ from, to, objects });

describe("checkpointOf", () => {
  it("puts the tasks' key groups together, in order", () => {
    const made = checkpointOf(row, [ack(run(4, 8)), ack(run(0, 4, object(3, 9), object(5, 2)))], 8);
    assert.deepEqual(
      made.stages["1"]?.map(({ from, to }) => [from, to]),
      [
        [0, 4],
        [4, 8],
      ],
    );
  });
  it("refuses a checkpoint that is not complete (I5)", () => {
    for (const runs of [
      [run(0, 7)],
      [run(1, 8)],
      [run(0, 3), run(4, 8)],
      [run(0, 5), run(4, 8)],
      [run(0, 0), run(0, 8)],
    ])
      assert.throws(() => checkpointOf(row, [ack(...runs)], 8), { code: "invariant-I5" });
  });
  it("refuses what another attempt wrote (I2)", () => {
    for (const name of [object(5, 1), object(5, 3), object(6, 1), "elsewhere/object"])
      assert.throws(() => checkpointOf(row, [ack(run(0, 8, name))], 8), { code: "invariant-I2" });
  });
});
