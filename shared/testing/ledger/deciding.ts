import assert from "node:assert/strict";
import type { EpochId } from "../../ports/ledger.ts";
import {
  ackOf,
  attemptPlan,
  begin,
  commitAll,
  committed,
  decided,
  decisionOf,
  failureOf,
  type NewUnit,
  planned,
  planOf,
  refusedBy,
  unitOf,
} from "./examples.ts";
import type { Check } from "./harness.ts";

export function decidingSuite(check: Check): void {
  check("I3: a decision changes row and HEAD, and writes the units, in one", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const before = await ledger.epoch(1);
    await ledger.ack(id, ackOf("one"));
    const units = [
      unitOf("z"),
      unitOf("a"),
      unitOf("a", "other"),
      unitOf("0-#/ü"),
      unitOf("b#c", "a"),
      unitOf("c", "a#b"),
    ];
    const decision = await decisionOf(ledger, 1, { units });
    assert.deepEqual(await ledger.units(1), []);
    assert.equal(await ledger.decide(id, { decision, units, ackCount: 1 }), "decided");
    const fields = { status: "decided", decision, commitFailure: null, committedAt: null, dropped: false, pins: [] };
    assert.deepEqual(await ledger.epoch(1), { ...before, ...fields });
    assert.equal((await ledger.head())?.decided, 1);
    assert.deepEqual(
      await ledger.units(1),
      units.map((unit) => ({ ...unit, status: "prepared" })),
    );
    assert.deepEqual(
      (await ledger.units(1, "other")).map((one) => one.key),
      ["a"],
    );
    assert.deepEqual(await ledger.units(1, "out#"), []);
  });

  check("I3: nothing is decided before all acks are there, nor with more", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    const write = { decision: await decisionOf(ledger, 1), units: [unitOf("0")] };
    await ledger.ack(id, ackOf("one"));
    for (const ackCount of [0, 2]) assert.equal(await ledger.decide(id, { ...write, ackCount }), "incomplete");
    assert.equal((await ledger.head())?.decided, 0);
    assert.equal(await ledger.decide(id, { ...write, ackCount: 1 }), "decided");
  });

  check("I2: acks of another attempt do not count", async (ledger) => {
    await begin(ledger);
    await ledger.ack(await planned(ledger, 1), ackOf("one"));
    const second = await planned(ledger, 1, { seen: 1 });
    const write = { decision: await decisionOf(ledger, 1), units: [unitOf("0")], ackCount: 1 };
    assert.equal(await ledger.decide(second, write), "incomplete");
  });

  check("I2: only the planned attempt is decided, once; the same decision again is told so", async (ledger) => {
    await begin(ledger);
    const fenced = await planned(ledger, 1);
    await ledger.ack(fenced, ackOf("one"));
    await ledger.fence(fenced, failureOf());
    const write = { decision: await decisionOf(ledger, 1), units: [unitOf("0")], ackCount: 1 };
    assert.equal(await ledger.decide(fenced, write), "fenced");
    const id = await planned(ledger, 1, { seen: 1 });
    await ledger.ack(id, ackOf("two"));
    assert.equal(await ledger.decide(fenced, write), "fenced");
    assert.equal(await ledger.decide(id, write), "decided");
    const row = await ledger.epoch(1);
    await ledger.commitUnit(1, "out", "0");
    assert.equal(await ledger.decide(id, write), "decided");
    assert.equal(await ledger.decide(fenced, write), "fenced");
    const other = await decisionOf(ledger, 1, { token: "other" });
    assert.equal(await ledger.decide(id, { ...write, decision: other }), "fenced");
    assert.deepEqual(await ledger.epoch(1), row);
    assert.deepEqual(
      (await ledger.units(1)).map((one) => one.status),
      ["committed"],
    );
  });

  check("I1, I4: a decision that does not fit its plan, its units or the one before is refused", async (ledger) => {
    await begin(ledger);
    await committed(ledger, 1);
    const id = await planned(ledger, 2);
    await ledger.ack(id, ackOf("one"));
    const units = [unitOf("0")];
    const right = await decisionOf(ledger, 2);
    const refused = (name: string, change: object, given = units) =>
      refusedBy(name, ledger.decide(id, { decision: { ...right, ...change }, units: given, ackCount: 1 }));
    await refused("I1", { partitions: [{ ...right.partitions[0], position: 19 }] });
    await refused("I1", { partitions: [] });
    await refused("I4", { unitCount: 2 });
    await refused("I4", { unitCount: 2 }, [unitOf("0"), unitOf("0")]);
    await refused("I4", { sinks: ["other"] });
    await refused("I4", { previous: { "out/0": 1 } });
    await refused("I4", { unitCount: 0, sinks: [], previous: {} }, []);
    assert.equal((await ledger.epoch(2))?.status, "planned");
    assert.equal(await ledger.decide(id, { decision: right, units, ackCount: 1 }), "decided");
  });

  check("I1: a decision forgets what its plan forgets, and no other partition", async (ledger) => {
    const partitions = [{ ...planOf(1).partitions[0]!, id: "q" }];
    const forgetful = { ...planOf(2), partitions, forgotten: ["p"] };
    await begin(ledger);
    await committed(ledger, 1);
    const id = await planned(ledger, 2, { plan: forgetful });
    await ledger.ack(id, ackOf("one"));
    const decision = await decisionOf(ledger, 2, { units: [], position: 10 });
    const [position] = decision.partitions;
    const decide = (of: EpochId, ids: readonly string[]) =>
      ledger.decide(of, {
        decision: { ...decision, partitions: ids.map((id) => ({ ...position!, id })) },
        units: [],
        ackCount: 1,
      });
    await refusedBy("I1", decide(id, []));
    assert.equal(await decide(id, ["q"]), "decided");
    assert.deepEqual((await ledger.epoch(2))?.plan, forgetful);
    await commitAll(ledger, 2);
    const none = await planned(ledger, 3, { plan: { ...planOf(3), partitions: [] } });
    await ledger.ack(none, ackOf("two"));
    await refusedBy("I1", decide(none, []));
  });

  check(
    "I4: an epoch without a second phase is committed with its decision, when nothing waits for a commit",
    async (ledger) => {
      await begin(ledger);
      await decided(ledger, 1);
      const id = await planned(ledger, 2);
      await ledger.ack(id, ackOf("one"));
      const direct = async (units: NewUnit[] = []) => {
        const decision = await decisionOf(ledger, 2, { units });
        return { decision, units, ackCount: 1, committed: true };
      };
      await refusedBy("I4", ledger.decide(id, await direct()));
      await commitAll(ledger, 1);
      await refusedBy("I4", ledger.decide(id, await direct([unitOf("0")])));
      assert.equal(await ledger.decide(id, await direct()), "decided");
      assert.equal(await ledger.decide(id, await direct()), "decided");
      const row = await ledger.epoch(2);
      assert(row?.status === "decided");
      assert.deepEqual([row.committedAt, row.decision.previous], [row.decision.decidedAt, { "out/0": 1 }]);
      const head = await ledger.head();
      assert.deepEqual([head?.decided, head?.committed], [2, 2]);
      await committed(ledger, 3);
    },
  );

  check("I3: what is claimed is decided of a fenced attempt alone, and is not tried again", async (ledger) => {
    await begin(ledger);
    const id = await planned(ledger, 1);
    await ledger.ack(id, ackOf("one"), true);
    const loss = { shares: [{ stage: 0, task: 1 }], rows: {} };
    const decision = { ...(await decisionOf(ledger, 1, { units: [] })), loss };
    const write = { decision, units: [], ackCount: 1, committed: true };
    assert.equal(await ledger.lose(id, write), "changed");
    await ledger.fence(id, failureOf());
    for (const ackCount of [0, 2]) assert.equal(await ledger.lose(id, { ...write, ackCount }), "changed");
    assert.equal(await ledger.lose({ ...id, attempt: 2 }, write), "changed");
    await refusedBy("I1", ledger.lose(id, { ...write, decision: { ...decision, partitions: [] } }));
    assert.equal(await ledger.lose(id, write), "decided");
    assert.equal(await ledger.lose(id, write), "decided");
    const row = await ledger.epoch(1);
    assert(row?.status === "decided");
    assert.deepEqual([row.attempt, row.failures, row.decision], [1, 1, decision]);
    assert.equal((await ledger.head())?.committed, 1);
    assert.deepEqual(await ledger.ack(id, ackOf("two", { task: 1 }), true), { outcome: "fenced" });
    assert.deepEqual(await ledger.fence(id, failureOf()), { outcome: "decided" });
    await planned(ledger, 2);
  });

  const restoreWrite = async (ledger: Parameters<typeof decided>[0], epoch: number, seen: number | null) => {
    const decision = await decisionOf(ledger, epoch, {
      kind: "restore",
      units: [],
      position: 3,
      token: `restore-${epoch}`,
    });
    return { epoch, seen, decision, plan: planOf(epoch), attemptPlan, fingerprint: "new", now: 8 };
  };

  check("restore decides and commits one more epoch, also over a planned one", async (ledger) => {
    await begin(ledger);
    await committed(ledger, 1);
    const zombie = await planned(ledger, 2);
    await ledger.ack(zombie, ackOf("one"));
    const write = await restoreWrite(ledger, 2, 1);
    assert.equal(await ledger.restore({ ...write, seen: null }), "changed");
    assert.equal(await ledger.restore(write), "decided");
    assert.equal(await ledger.restore(write), "decided");
    const row = await ledger.epoch(2);
    assert(row?.status === "decided");
    assert.deepEqual([row.attempt, row.decision, row.committedAt], [2, write.decision, 8]);
    const head = await ledger.head();
    assert.deepEqual([head?.decided, head?.committed, head?.fingerprint], [2, 2, "new"]);
    const late = { decision: await decisionOf(ledger, 2), units: [unitOf("0")], ackCount: 1 };
    assert.equal(await ledger.decide(zombie, late), "fenced");
    assert.deepEqual(await ledger.fence(zombie, failureOf()), { outcome: "superseded" });
    assert.deepEqual(await ledger.units(2), []);
    await planned(ledger, 3, { plan: planOf(3, { from: 3 }) });
  });

  check("restore waits for commits, keeps `previous`, and works on a stopped pipeline", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1);
    const write = await restoreWrite(ledger, 2, null);
    assert.equal(await ledger.restore(write), "changed");
    await ledger.commitUnit(1, "out", "0");
    await ledger.commit(1, 4);
    await ledger.stop(failureOf().error, { owner: 1 });
    await refusedBy("I4", ledger.restore({ ...write, decision: { ...write.decision, previous: {} } }));
    assert.equal(await ledger.restore(write), "decided");
    assert.equal((await ledger.head())?.status, "stopped");
  });
}
