import assert from "node:assert/strict";
import { ackOf, begin, decided, failureOf, planned } from "./examples.ts";
import type { Check } from "./harness.ts";

export function attemptsSuite(check: Check): void {
  check("the first ack of a task is the one that counts", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const won = { outcome: "acknowledged", ack: ackOf("one") };
    assert.deepEqual(await ledger.ack(id, ackOf("one")), won);
    assert.deepEqual(await ledger.ack(id, ackOf("two")), won);
    assert.deepEqual(await ledger.acks(id), [ackOf("one")]);
  });

  check("an ack of an attempt that is over is fenced, unless it was made in time", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    await ledger.ack(id, ackOf("one"));
    await ledger.fence(id, failureOf());
    const late = ackOf("two", { task: 1 });
    assert.deepEqual(await ledger.ack(id, late), { outcome: "fenced" });
    assert.deepEqual(await ledger.ack(id, ackOf("one")), { outcome: "acknowledged", ack: ackOf("one") });
    await planned(ledger, 1, { seen: 1 });
    assert.deepEqual(await ledger.ack(id, late), { outcome: "fenced" });
    assert.deepEqual(await ledger.acks({ epoch: 1, attempt: 2 }), []);
    assert.deepEqual(await ledger.ack({ epoch: 9, attempt: 1 }, late), { outcome: "fenced" });
  });

  check("acks come by stage and task, beyond ten of each", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const tasks = [10, 2, 0, 11, 1];
    for (const stage of [10, 1]) for (const task of tasks) await ledger.ack(id, ackOf("n", { stage, task }));
    const places = (await ledger.acks(id)).map((one) => [one.stage, one.task]);
    const ascending = [0, 1, 2, 10, 11];
    assert.deepEqual(
      places,
      [1, 10].flatMap((stage) => ascending.map((task) => [stage, task])),
    );
    assert.deepEqual(
      (await ledger.acks(id, 1)).map((one) => one.task),
      ascending,
    );
    assert.deepEqual(await ledger.acks(id, 0), []);
  });

  check("values come back as they went in", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const text = "\u0000 \u2028 ü 漢 🙂 \"'#/\\ \ud83d";
    const handle = JSON.parse(
      `{"__proto__": 1, "text": ${JSON.stringify(text)}, "number": 1e-7, "none": null, "deep": [[{}]]}`,
    );
    const given = ackOf("n", { prepared: [{ stage: 0, sink: text, handle }], maxEventTimes: { [text]: -1 } });
    await ledger.ack(id, given);
    assert.deepEqual(await ledger.acks(id), [given]);
  });

  check("the first failure that is noted stays, and only a planned attempt is noted", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    await ledger.fail(id, failureOf("one", true));
    await ledger.fail(id, failureOf("two"));
    await ledger.fail({ ...id, attempt: 2 }, failureOf("three"));
    assert.deepEqual((await ledger.epoch(1))?.failure, failureOf("one", true));
    const fenced = await ledger.fence(id, failureOf("four"));
    assert(fenced.outcome === "fenced");
    assert.deepEqual(fenced.row, await ledger.epoch(1));
    assert.deepEqual(
      [fenced.row.status, fenced.row.failures, fenced.row.failure],
      ["fenced", 1, failureOf("one", true)],
    );
    await ledger.fail(id, failureOf("five"));
    assert.deepEqual(await ledger.epoch(1), fenced.row);
  });

  check("fence is idempotent, finds a decision, and leaves other attempts alone", async (ledger) => {
    await begin(ledger);
    const one = await planned(ledger, 1);
    await ledger.fence(one, failureOf());
    const again = await ledger.fence(one, failureOf("again"));
    assert(again.outcome === "fenced");
    assert.deepEqual([again.row.failures, again.row.failure], [1, failureOf()]);
    await planned(ledger, 1, { seen: 1 });
    assert.deepEqual(await ledger.fence(one, failureOf()), { outcome: "superseded" });
    assert.deepEqual(await ledger.fence({ epoch: 1, attempt: 3 }, failureOf()), { outcome: "superseded" });
    assert.deepEqual(await ledger.fence({ epoch: 5, attempt: 1 }, failureOf()), { outcome: "superseded" });
    assert.equal((await ledger.epoch(1))?.status, "planned");
  });

  check(
    "I2: an ack that claims rows is that of a planned attempt, and the claim of another is told",
    async (ledger) => {
      await begin(ledger);
      const id = await planned(ledger, 1);
      const won = { outcome: "acknowledged", ack: ackOf("one") };
      for (const nonce of ["one", "one", "two"]) assert.deepEqual(await ledger.ack(id, ackOf(nonce), true), won);
      await ledger.fence(id, failureOf());
      assert.deepEqual(await ledger.ack(id, ackOf("one"), true), won);
      assert.deepEqual(await ledger.ack(id, ackOf("two", { task: 1 }), true), { outcome: "fenced" });
      assert.deepEqual(await ledger.acks(id), [ackOf("one")]);
    },
  );

  check("confirming says what has become of an ack's rows, and makes no ack", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    await ledger.ack(id, ackOf("one"), true);
    await ledger.confirm(id, { stage: 0, task: 1 }, ["out"]);
    await ledger.confirm({ epoch: 4, attempt: 1 }, { stage: 0, task: 0 }, ["out"]);
    await ledger.confirm(id, { stage: 0, task: 0 }, ["out", "late"]);
    assert.deepEqual(await ledger.acks(id), [ackOf("one", { published: ["out", "late"] })]);
    assert.deepEqual(await ledger.acks({ epoch: 4, attempt: 1 }), []);
  });

  check("a planner fences only while it has the lease", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    assert.deepEqual(await ledger.fence(id, failureOf(), 2), { outcome: "superseded" });
    assert.equal((await ledger.epoch(1))?.status, "planned");
    assert.equal((await ledger.fence(id, failureOf(), 1)).outcome, "fenced");
  });

  check("a decided attempt is not fenced", async (ledger) => {
    await begin(ledger);
    const id = await decided(ledger, 1);
    const row = await ledger.epoch(1);
    assert.deepEqual(await ledger.fence(id, failureOf()), { outcome: "decided" });
    await ledger.fail(id, failureOf());
    assert.deepEqual(await ledger.epoch(1), row);
    assert.deepEqual(await ledger.fence({ epoch: 1, attempt: 2 }, failureOf()), { outcome: "superseded" });
  });
}
