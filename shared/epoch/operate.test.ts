import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualClock } from "../adapters/memory/clock.ts";
import { MemoryLedger } from "../adapters/memory/ledger.ts";
import { MemoryObjectStore } from "../adapters/memory/object-store.ts";
import { InfrastructureError } from "../errors.ts";
import { count, files, pipeline, text } from "../index.ts";
import { describe } from "../pipeline/describe.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { TwoPhaseCommitSink } from "../ports/sink.ts";
import type { SourceRange } from "../ports/source.ts";
import { StateStore } from "../state/state-store.ts";
import { TestSource } from "../testing/pipeline/test-source.ts";
import { type Engine, sourceOf } from "./engine.ts";
import type { AttemptPlan, EpochPlan } from "./epoch.ts";
import { operate } from "./operate.ts";
import { newPlan } from "./plan-ranges.ts";

const topology = describe(
  pipeline("words")
    .from(files.source({ path: "/in", value: text() }))
    .keyBy((word) => word)
    .aggregate({ count: count() })
    .to(files.sink({ path: "/out" }), { id: "counts" }),
);

/** Two records, which are a sub-range each. */
class Input extends TestSource {
  readonly hints: SourceRange[] = [];

  constructor() {
    super(sourceOf({ topology } as Engine), 1);
    for (const value of ["a", "b"]) this.send(value, {}, 0);
  }

  override split = async () => [2];

  prefetch(ranges: readonly SourceRange[]): void {
    this.hints.push(...ranges);
  }
}

/** A task, fused if nothing else is said, with a row to write and state to save, by ports that do this around it. */
async function operated(
  put: (save: () => Promise<void>) => Promise<void>,
  sink: Partial<TwoPhaseCommitSink> & { discard?: () => Promise<void> },
  change: Partial<AttemptPlan> = {},
  { source = new Input(), task = 0 } = {},
) {
  const ledger = new MemoryLedger();
  await ledger.open({ pipeline: "words", uid: "u", fingerprint: "{}" });
  await ledger.grant({ owner: null, run: 0 });
  const memory = new MemoryObjectStore();
  const objects: ObjectStore = {
    put: (key, chunks) => put(() => memory.put(key, chunks)),
    get: (key, range) => memory.get(key, range),
    list: (prefix) => memory.list(prefix),
    delete: (keys) => memory.delete(keys),
  };
  const transaction = { write: () => {}, drained: async () => {}, ...(sink.discard && { discard: sink.discard }) };
  const engine = {
    ...{ topology, codeDigest: "code", uid: "u", ledger, objects, source, state: new StateStore(objects) },
    ...{ clock: new ManualClock(), random: { nonce: () => "n" } },
    sink: () => ({ begin: async () => transaction, ...sink }),
    policy: { adaptive: false, records: null, paceMs: 0, bounded: false },
  } as unknown as Engine;
  const plan = (await newPlan(engine, undefined)) as EpochPlan;
  const attemptPlan = { codeDigest: "code", tasks: [1, 1], fused: true, ...change };
  await ledger.plan({ epoch: 1, seen: null, owner: 1, plan, attemptPlan, events: 0, now: 0 });
  return await operate(engine, { epoch: 1, attempt: 1, stage: 0, task });
}

/** It takes a while to save, and tells when it begins and ends. */
const slowly = (log: string[]) => async (save: () => Promise<void>) => {
  log.push("saving");
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  await save();
  log.push("saved");
};

test("the output is prepared while the state is saved, and both are done before the ack", async () => {
  const log: string[] = [];
  const preCommit = async () => void log.push("prepared");
  assert.equal(await operated(slowly(log), { preCommit }), "acknowledged");
  assert.deepEqual(log, ["saving", "prepared", "saved"]);
});

test("what fails does so once the other has ended: nothing goes on behind the back of who discards", async () => {
  const log: string[] = [];
  const preCommit = async () => {
    log.push("not prepared");
    throw new InfrastructureError("broken", "on purpose");
  };
  const discard = async () => void log.push("discarded");
  await assert.rejects(operated(slowly(log), { preCommit, discard }), { code: "broken" });
  assert.deepEqual(log, ["saving", "not prepared", "saved", "discarded"]);
});

test("rows that are visible at once are written after the state: what fails before brings none twice", async () => {
  const log: string[] = [];
  const publish = async () => void log.push("published");
  assert.equal(await operated(slowly(log), { publish }, { guarantee: "at-least-once" }), "acknowledged");
  assert.deepEqual(log, ["saving", "saved", "published"]);
});

test("the source hears of the ranges behind which the next epoch begins (I1), and of no others", async () => {
  const save = (save: () => Promise<void>) => save();
  const tasks = { tasks: [2, 1], fused: false };
  const hints = await Promise.all(
    [0, 1].map(async (task) => {
      const source = new Input();
      assert.equal(await operated(save, {}, tasks, { source, task }), "acknowledged");
      return source.hints.map(({ from, to }) => [from, to]);
    }),
  );
  assert.deepEqual(hints, [[], [[2, 4]]]);
});
