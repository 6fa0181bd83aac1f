import assert from "node:assert/strict";
import {
  ackOf,
  begin,
  committed,
  decided,
  decisionOf,
  failureOf,
  first,
  planned,
  planOf,
  planWrite,
  refusedBy,
  unitOf,
} from "./examples.ts";
import type { Check } from "./harness.ts";

export function planningSuite(check: Check): void {
  check("open makes HEAD and WAKE once", async (ledger, another) => {
    assert.equal(await ledger.head(), undefined);
    const head = await ledger.open(first);
    assert.deepEqual(head, { ...first, decided: 0, committed: 0, status: "running", error: null });
    assert.deepEqual(await ledger.wake(), { sequence: 0, owner: null, run: 0, events: 0 });
    assert.deepEqual(await (await another()).open({ ...first, uid: "other" }), head);
  });

  check("a connection is closed twice without harm, and others go on", async (ledger, another) => {
    const other = await another();
    await ledger.open(first);
    await other.close();
    await other.close();
    assert.equal((await ledger.increment(null)).sequence, 1);
  });

  check("verbs on a ledger that was never opened are a loss", async (ledger) => {
    await assert.rejects(ledger.wake(), { code: "ledger-missing", kind: "loss" });
    await assert.rejects(ledger.plan(planWrite(1)), { code: "ledger-missing" });
    assert.equal(await ledger.epoch(1), undefined);
    assert.deepEqual(await ledger.epochs({ from: 0, to: 9 }), []);
  });

  check("plan writes the row, and counts events in the same write", async (ledger) => {
    await begin(ledger);
    assert.deepEqual(await ledger.plan(planWrite(1, { events: 40, now: 5 })), { outcome: "planned", attempt: 1 });
    const { seen, owner, events, now, ...row } = planWrite(1);
    assert.deepEqual(await ledger.epoch(1), {
      ...row,
      status: "planned",
      attempt: 1,
      plannedAt: 5,
      failures: 0,
      failure: null,
    });
    assert.equal((await ledger.wake()).events, 40);
  });

  check("only the lease's owner plans", async (ledger) => {
    await begin(ledger);
    assert.deepEqual(await ledger.plan(planWrite(1, { owner: 2 })), { outcome: "not-owner" });
    assert.equal(await ledger.epoch(1), undefined);
  });

  check("plan is conditional on HEAD, status and the attempt it has seen", async (ledger) => {
    await begin(ledger);
    assert.deepEqual(await ledger.plan(planWrite(2)), { outcome: "changed" });
    await planned(ledger, 1);
    assert.deepEqual(await ledger.plan(planWrite(1)), { outcome: "changed" });
    await ledger.setStatus("paused");
    assert.deepEqual(await ledger.plan(planWrite(1, { seen: 1 })), { outcome: "changed" });
    await ledger.setStatus("running");
    assert.deepEqual(await ledger.plan(planWrite(1, { seen: 1 })), { outcome: "planned", attempt: 2 });
  });

  check("a decided epoch is not planned again", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1);
    assert.deepEqual(await ledger.plan(planWrite(1, { seen: 1 })), { outcome: "changed" });
  });

  check("I1: a new attempt with another plan is refused, and nothing is written", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const before = await ledger.epoch(1);
    for (const plan of [planOf(1, { to: 11 }), planOf(1, { to: 9 }), planOf(1, { watermark: 5 })])
      await refusedBy("I1", ledger.plan(planWrite(1, { seen: 1, plan, events: 7 })));
    assert.deepEqual(await ledger.epoch(1), before);
    assert.equal((await ledger.wake()).events, 0);
    await ledger.fence(id, failureOf());
    await refusedBy("I1", ledger.plan(planWrite(1, { seen: 1, plan: planOf(1, { to: 9 }) })));
  });

  check("I1: after a failure that asks for it a smaller plan is taken, no larger or other one", async (ledger) => {
    await begin(ledger);
    await ledger.fence(await planned(ledger, 1), failureOf("time-out", true));
    for (const plan of [planOf(1, { to: 11 }), planOf(1, { to: 9, watermark: 5 }), planOf(1, { from: 1, to: 9 })])
      await refusedBy("I1", ledger.plan(planWrite(1, { seen: 1, plan })));
    await planned(ledger, 1, { seen: 1, plan: planOf(1, { to: 9 }) });
    await refusedBy("I1", ledger.plan(planWrite(1, { seen: 2, plan: planOf(1, { to: 8 }) })));
  });

  check("I1: a partition starts where the last decided epoch ended; a new one anywhere", async (ledger) => {
    await begin(ledger);
    await committed(ledger, 1);
    for (const from of [9, 11]) await refusedBy("I1", ledger.plan(planWrite(2, { plan: planOf(2, { from }) })));
    const plan = planOf(2);
    const fresh = { ...plan.partitions[0]!, id: "q", from: 3, to: 3 };
    await planned(ledger, 2, { plan: { ...plan, partitions: [...plan.partitions, fresh] } });
  });

  check("I1: ranges and sub-ranges ascend, and no partition is there twice", async (ledger) => {
    await begin(ledger);
    const plan = planOf(1);
    const one = plan.partitions[0]!;
    const wrong = [
      [{ ...one, to: -1 }],
      [{ ...one, cuts: [10] }],
      [{ ...one, cuts: [0] }],
      [{ ...one, cuts: [5, 5] }],
      [one, one],
    ];
    for (const partitions of wrong) await refusedBy("I1", ledger.plan(planWrite(1, { plan: { ...plan, partitions } })));
    await planned(ledger, 1, { plan: { ...plan, partitions: [{ ...one, cuts: [4, 7] }] } });
  });

  check("failures count once each, whether fenced or only noted", async (ledger) => {
    await begin(ledger);
    const one = await planned(ledger, 1);
    await ledger.fence(one, failureOf());
    await ledger.fence(one, failureOf());
    const two = await planned(ledger, 1, { seen: 1 });
    const row = await ledger.epoch(1);
    assert.deepEqual([row?.failures, row?.failure], [1, null]);
    await ledger.fail(two, failureOf());
    await planned(ledger, 1, { seen: 2 });
    assert.equal((await ledger.epoch(1))?.failures, 2);
    await planned(ledger, 1, { seen: 3 });
    assert.equal((await ledger.epoch(1))?.failures, 2);
  });

  check("the last attempts that failed are remembered, also once the epoch is decided", async (ledger) => {
    await begin(ledger);
    for (let attempt = 1; attempt <= 7; attempt++) {
      const id = await planned(ledger, 1, { seen: attempt === 1 ? null : attempt - 1, now: attempt * 10 });
      if (attempt < 7 && attempt !== 4) await ledger.fence(id, failureOf(`broken-${attempt}`));
    }
    const errors = (await ledger.epoch(1))?.earlier?.map(({ attempt, plannedAt, replacedAt, error }) => [
      attempt,
      plannedAt,
      replacedAt,
      error.code,
    ]);
    const expected = [1, 2, 3, 5, 6].map((one) => [one, one * 10, (one + 1) * 10, `broken-${one}`]);
    assert.deepEqual(errors, expected);
    const last = { epoch: 1, attempt: 7 };
    await ledger.ack(last, ackOf("one"));
    const decision = await decisionOf(ledger, 1, {});
    await ledger.decide(last, { decision, units: [unitOf("0")], ackCount: 1 });
    assert.equal((await ledger.epoch(1))?.earlier?.length, 5);
  });

  check("epochs gives the rows of a range", async (ledger) => {
    await begin(ledger);
    for (let epoch = 1; epoch <= 11; epoch++) await committed(ledger, epoch);
    await planned(ledger, 12);
    const numbers = async (from: number, to: number) => (await ledger.epochs({ from, to })).map((one) => one.epoch);
    assert.deepEqual(await numbers(9, 11), [9, 10, 11]);
    assert.deepEqual(await numbers(-5, 2), [1, 2]);
    assert.deepEqual(await numbers(12, 99), [12]);
  });
}
