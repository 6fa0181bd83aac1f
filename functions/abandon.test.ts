import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../shared/adapters/memory/ledger.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { InfrastructureError } from "../shared/errors.ts";
import type { CommitContext } from "../shared/ports/sink.ts";
import { begin, committed, decided, first, unitOf } from "../shared/testing/ledger/examples.ts";
import { type AbandonInput, abandonStep } from "./abandon.ts";

/** Epoch 2 of the examples waits for its commit. The sink `out` has what its units `visible` hold. */
async function engineWith(visible: readonly string[] = [], isReached = true) {
  const ledger = new MemoryLedger();
  await begin(ledger);
  await committed(ledger, 1);
  await decided(ledger, 2, { units: [unitOf("0"), unitOf("1"), unitOf("0", "late")] });
  const asked: string[] = [];
  const sink = {
    abandon: async ({ sink, key }: CommitContext) => {
      asked.push(`${sink}/${key}`);
      if (!isReached) throw new InfrastructureError("unreachable", "the brokers are out of reach");
      return visible.includes(key) ? "committed" : "lost";
    },
  };
  const engine = { ledger, topology: { name: first.pipeline }, uid: first.uid, sink: () => sink } as unknown as Engine;
  return { ledger, asked, abandon: (wish: AbandonInput["abandon"]) => abandonStep(engine, { abandon: wish }) };
}

test("a sink's units are given up once it was asked; what it has is not lost", async () => {
  const { abandon, ledger, asked } = await engineWith(["1"]);
  const abandoned = { sink: "out", epoch: 2, lost: 1, committed: 1, unknown: 0 };
  assert.deepEqual(await abandon({ sink: "out", epoch: 2 }), { abandoned });
  assert.deepEqual(asked, ["out/0", "out/1"]);
  const statuses = (await ledger.units(2)).map(({ sink, key, status }) => `${sink}/${key} ${status}`);
  assert.deepEqual(statuses, ["out/0 abandoned", "out/1 committed", "late/0 prepared"]);
});

test("unasked, the sink is left alone", async () => {
  const { abandon, asked } = await engineWith(["0", "1"]);
  const answer = await abandon({ sink: "out", epoch: 2, unasked: true });
  assert.deepEqual(answer, { abandoned: { sink: "out", epoch: 2, unasked: true, lost: 2, committed: 0, unknown: 0 } });
  assert.deepEqual(asked, []);
});

test("what is wrong with the wish is answered, and nothing changes", async () => {
  const { abandon, ledger } = await engineWith();
  const [committed, nothing] = [await abandon({ sink: "out", epoch: 1 }), await abandon({ sink: "other", epoch: 2 })];
  assert.ok("error" in committed && "error" in nothing);
  assert.deepEqual([committed.error.code, nothing.error.code], ["not-uncommitted", "no-units"]);
  assert.ok((await ledger.units(2)).every(({ status }) => status === "prepared"));
});

test("a sink that cannot be asked fails the function, and is asked again by the next wish", async () => {
  const { abandon, asked } = await engineWith([], false);
  const wish = { sink: "out", epoch: 2 };
  for (let tries = 0; tries < 2; tries++) await assert.rejects(abandon(wish), { code: "unreachable" });
  assert.deepEqual(asked, ["out/0", "out/0"]);
});
