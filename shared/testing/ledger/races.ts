import assert from "node:assert/strict";
import type { Ledger } from "../../ports/ledger.ts";
import {
  ackOf,
  attemptPlan,
  begin,
  committed,
  decided,
  decisionOf,
  failureOf,
  planned,
  planOf,
  planWrite,
  unitOf,
} from "./examples.ts";
import type { Check } from "./harness.ts";

/** So many calls at once of a verb that waits for its turn. */
const crowd = 20;

/** Calls from two connections in turn, all at once. */
async function together<T>(
  ledgers: readonly Ledger[],
  count: number,
  call: (ledger: Ledger, index: number) => Promise<T>,
): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => call(ledgers[index % ledgers.length]!, index)));
}

/** Runs a race of two calls, each from its own connection, in both orders. */
async function race<A, B>(
  round: number,
  ledgers: readonly [Ledger, Ledger],
  one: (ledger: Ledger) => Promise<A>,
  other: (ledger: Ledger) => Promise<B>,
): Promise<[A, B]> {
  const [left, right] = ledgers;
  if (round % 2 === 0) return await Promise.all([one(left), other(right)]);
  const second = other(right);
  return [await one(left), await second];
}

const only = <T>(all: readonly T[], wanted: (one: T) => boolean) => assert.equal(all.filter(wanted).length, 1);

/** @param rounds of each race */
export function racesSuite(check: Check, rounds: number): void {
  check("no increment is lost", async (ledger, another) => {
    await begin(ledger);
    const seen = await together([ledger, await another()], crowd, (each) => each.increment(null));
    const ascending = seen.map((one) => one.sequence).sort((a, b) => a - b);
    assert.deepEqual(
      ascending,
      Array.from({ length: crowd }, (_, index) => index + 1),
    );
    assert.equal((await ledger.wake()).sequence, crowd);
  });

  check("of many grants of one reading, one succeeds", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()];
    for (let round = 0; round < rounds; round++) {
      const { owner, run } = await ledger.wake();
      only(await together(ledgers, 8, (each) => each.grant({ owner, run })), (run) => run !== null);
    }
    assert.equal((await ledger.wake()).run, rounds + 1);
  });

  check("of grant and hand-over one succeeds", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let run = 1; run <= rounds; run++)
      only(
        await race(
          run,
          ledgers,
          (each) => each.grant({ owner: run, run }),
          (each) => each.handOver(run),
        ),
        (next) => next === run + 1,
      );
  });

  check(
    "I7: of going idle and waking, either the coordinator stays or the waker sees no owner",
    async (ledger, another) => {
      await begin(ledger);
      const ledgers = [ledger, await another()] as const;
      for (let round = 0; round < rounds; round++) {
        const { owner, run, sequence } = await ledger.wake();
        const [left, woken] = await race(
          round,
          ledgers,
          (each) => each.release(owner!, sequence),
          (each) => each.increment(null),
        );
        assert.equal(woken.owner, left === "released" ? null : owner);
        if (left === "released") await ledger.grant({ owner: null, run });
      }
    },
  );

  check("of many plans of one reading, one succeeds", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()];
    for (let attempt = 1; attempt <= rounds; attempt++) {
      const write = planWrite(1, { seen: attempt === 1 ? null : attempt - 1, events: 1 });
      const outcomes = await together(ledgers, 6, (each) => each.plan(write));
      only(outcomes, (one) => one.outcome === "planned" && one.attempt === attempt);
    }
    assert.equal((await ledger.wake()).events, rounds);
  });

  check("of plan and losing the lease, nothing is planned by who has lost it", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let round = 0; round < rounds; round++) {
      const { owner, run } = await ledger.wake();
      const seen = (await ledger.epoch(1))?.attempt ?? null;
      const write = planWrite(1, { owner: owner!, seen });
      const [plan] = await race(
        round,
        ledgers,
        (each) => each.plan(write),
        (each) => each.grant({ owner, run }),
      );
      const attempt = (await ledger.epoch(1))?.attempt ?? null;
      assert.equal(attempt, plan.outcome === "planned" ? (seen ?? 0) + 1 : seen);
      assert.deepEqual(await ledger.plan({ ...write, seen: attempt }), { outcome: "not-owner" });
    }
  });

  check("all acks of a task are answered with the same one", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()];
    const id = await planned(ledger, 1);
    for (let task = 0; task < rounds; task++) {
      const answers = await together(ledgers, 6, (each, index) => each.ack(id, ackOf(`nonce-${index}`, { task })));
      assert.equal(new Set(answers.map((one) => one.outcome === "acknowledged" && one.ack.nonce)).size, 1);
      const stored = (await ledger.acks(id)).find((one) => one.task === task);
      assert.deepEqual(answers[0], { outcome: "acknowledged", ack: stored });
    }
  });

  check("I2: of many decisions of one attempt, one is decided", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()];
    for (let epoch = 1; epoch <= rounds; epoch++) {
      const id = await planned(ledger, epoch);
      await ledger.ack(id, ackOf("one"));
      const token = (index: number) => `token-${index % 4}`;
      const decisions = await Promise.all(
        Array.from({ length: 8 }, (_, index) => decisionOf(ledger, epoch, { token: token(index) })),
      );
      const units = [unitOf("0")];
      const outcomes = await together(ledgers, 8, (each, index) =>
        each.decide(id, { decision: decisions[index]!, units, ackCount: 1 }),
      );
      const row = await ledger.epoch(epoch);
      assert(row?.status === "decided");
      assert.deepEqual(
        outcomes,
        decisions.map((one) => (one.token === row.decision.token ? "decided" : "fenced")),
      );
      await ledger.commitUnit(epoch, "out", "0");
      await ledger.commit(epoch, 5);
    }
  });

  check("I3: of decide and fence one wins, and both know which", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    let epoch = 1;
    for (let round = 0; round < rounds; round++) {
      const seen = (await ledger.epoch(epoch))?.attempt ?? null;
      const id = await planned(ledger, epoch, { seen });
      await ledger.ack(id, ackOf("one"));
      const write = { decision: await decisionOf(ledger, epoch, { units: [] }), units: [], ackCount: 1 };
      const [decide, fence] = await race(
        round,
        ledgers,
        (each) => each.decide(id, write),
        (each) => each.fence(id, failureOf()),
      );
      assert.equal(decide, fence.outcome);
      assert.equal((await ledger.epoch(epoch))?.status, decide);
      if (decide === "decided") await ledger.commit(epoch++, 5);
    }
  });

  check("of ack and fence: an ack that was taken is there", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let round = 0; round < rounds; round++) {
      const id = await planned(ledger, 1, { seen: round === 0 ? null : round });
      const [ack] = await race(
        round,
        ledgers,
        (each) => each.ack(id, ackOf("one")),
        (each) => each.fence(id, failureOf()),
      );
      assert.equal((await ledger.acks(id)).length, ack.outcome === "acknowledged" ? 1 : 0);
    }
  });

  check("of decide and restore one wins", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let epoch = 1; epoch <= rounds; epoch++) {
      const position = epoch === 1 ? 0 : 10 * (epoch - 1);
      const id = await planned(ledger, epoch, { plan: planOf(epoch, { from: position }) });
      await ledger.ack(id, ackOf("one"));
      const decision = await decisionOf(ledger, epoch, { units: [] });
      const back = await decisionOf(ledger, epoch, { units: [], kind: "restore", token: "restore" });
      const restore = {
        epoch,
        seen: id.attempt,
        decision: back,
        plan: planOf(epoch),
        attemptPlan,
        fingerprint: "f",
        now: 6,
      };
      const outcomes = await race(
        epoch,
        ledgers,
        (each) => each.decide(id, { decision, units: [], ackCount: 1 }),
        (each) => each.restore(restore),
      );
      only(outcomes, (one) => one === "decided");
      await ledger.commit(epoch, 7);
    }
  });

  check("I4: many committers commit a unit and an epoch once", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()];
    for (let epoch = 1; epoch <= rounds; epoch++) {
      await decided(ledger, epoch, { units: [unitOf("0"), unitOf("1")] });
      await together(ledgers, 6, (each, index) => each.commitUnit(epoch, "out", String(index % 2)));
      assert.deepEqual(
        new Set(await together(ledgers, 6, (each, index) => each.commit(epoch, index))),
        new Set(["committed"]),
      );
      assert.equal((await ledger.head())?.committed, epoch);
    }
  });

  check("of commit and abandon of a unit one wins, and both know which", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let epoch = 1; epoch <= rounds; epoch++) {
      await decided(ledger, epoch);
      const [commit, abandon] = await race(
        epoch,
        ledgers,
        (each) => each.commitUnit(epoch, "out", "0"),
        (each) => each.abandonUnit(epoch, "out", "0"),
      );
      assert.equal(commit === "committed", abandon === "committed");
      assert.equal((await ledger.units(epoch))[0]?.status, abandon);
      await ledger.commit(epoch, 5);
    }
  });

  check("I5: of drop and pin one wins", async (ledger, another) => {
    await begin(ledger);
    const ledgers = [ledger, await another()] as const;
    for (let epoch = 1; epoch <= rounds; epoch++) await committed(ledger, epoch);
    for (let epoch = 1; epoch < rounds; epoch++) {
      const outcomes = await race(
        epoch,
        ledgers,
        async (each) => (await each.drop([epoch]))[0],
        (each) => each.pin(epoch, "save"),
      );
      assert.equal(outcomes[0], outcomes[1]);
    }
  });
}
