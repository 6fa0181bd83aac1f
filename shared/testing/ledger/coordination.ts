import assert from "node:assert/strict";
import { begin, committed, decided, failureOf, first, planned } from "./examples.ts";
import type { Check } from "./harness.ts";

const { error } = failureOf();

export function coordinationSuite(check: Check): void {
  check("a lease is granted once to each reading of it, and numbers never come back", async (ledger) => {
    await ledger.open(first);
    assert.equal(await ledger.grant({ owner: null, run: 0 }), 1);
    assert.equal(await ledger.grant({ owner: null, run: 0 }), null);
    assert.equal(await ledger.grant({ owner: 1, run: 1 }), 2);
    await ledger.release(2, 0);
    for (const stale of [
      { owner: 1, run: 1 },
      { owner: 2, run: 2 },
      { owner: null, run: 0 },
    ])
      assert.equal(await ledger.grant(stale), null);
    assert.equal(await ledger.grant({ owner: null, run: 2 }), 3);
  });

  check("an increment takes the lease from a run that is proved to be over, and from no other", async (ledger) => {
    await begin(ledger);
    assert.deepEqual(await ledger.increment(null), { sequence: 1, owner: 1, run: 1, events: 0 });
    assert.deepEqual(await ledger.increment(7), { sequence: 2, owner: 1, run: 1, events: 0 });
    assert.deepEqual(await ledger.increment(1), { sequence: 3, owner: null, run: 1, events: 0 });
    assert.deepEqual(await ledger.increment(1), { sequence: 4, owner: null, run: 1, events: 0 });
    assert.deepEqual(await ledger.wake(), { sequence: 4, owner: null, run: 1, events: 0 });
  });

  check("hand-over passes the lease in one write, with no events used", async (ledger) => {
    await begin(ledger);
    assert.equal(await ledger.spend(1, 30), true);
    assert.equal(await ledger.spend(2, 30), false);
    assert.equal((await ledger.wake()).events, 30);
    assert.equal(await ledger.handOver(1), 2);
    assert.deepEqual(await ledger.wake(), { sequence: 0, owner: 2, run: 2, events: 0 });
    assert.equal(await ledger.handOver(1), null);
    assert.equal(await ledger.spend(1, 30), false);
  });

  check("I7: going idle fails if somebody woke the coordinator since it looked", async (ledger) => {
    await begin(ledger);
    await ledger.increment(null);
    assert.equal(await ledger.release(1, 0), "changed");
    assert.equal(await ledger.release(2, 1), "changed");
    assert.equal(await ledger.release(1, 1), "released");
    assert.equal((await ledger.wake()).owner, null);
    assert.equal(await ledger.release(1, 1), "changed");
  });

  check("I4: a running pipeline does not go idle before its commits; a paused or stopped one does", async (ledger) => {
    for (const rest of ["pause", "stop"]) {
      const { run, owner } = rest === "pause" ? { run: 0, owner: 1 } : { run: 1, owner: 2 };
      await ledger.open(first);
      assert.equal(await ledger.grant({ owner: null, run }), owner);
      if (rest === "pause") await decided(ledger, 1);
      assert.equal(await ledger.release(owner, 0), "changed");
      if (rest === "pause") await ledger.setStatus("paused");
      else await ledger.stop(error, { owner });
      assert.equal(await ledger.release(owner, 0), "released");
      await ledger.setStatus("running");
    }
  });

  check("pause, stop and resume", async (ledger) => {
    await begin(ledger);
    const status = async () => [(await ledger.head())?.status, (await ledger.head())?.error];
    assert.equal((await ledger.setStatus("paused")).status, "paused");
    assert.equal(await ledger.stop(error, { owner: 1 }), "stopped");
    assert.deepEqual(await status(), ["stopped", error]);
    assert.equal((await ledger.setStatus("running")).status, "running");
    assert.equal(await ledger.stop(error, { owner: 1 }), "stopped");
    assert.equal(await ledger.stop({ ...error, code: "other" }, { owner: 1 }), "changed");
    assert.equal((await ledger.setStatus("paused")).status, "stopped");
    assert.deepEqual(await status(), ["stopped", error]);
    assert.deepEqual((await ledger.setStatus("running")).error, null);
    assert.deepEqual(await status(), ["running", null]);
  });

  check(
    "I8: only the last attempt, the committer of a prepared unit and the owner may stop the pipeline",
    async (ledger) => {
      await begin(ledger);
      const one = await planned(ledger, 1);
      await ledger.fence(one, failureOf());
      const two = await planned(ledger, 1, { seen: 1 });
      for (const attempt of [one, { epoch: 1, attempt: 3 }, { epoch: 2, attempt: 1 }])
        assert.equal(await ledger.stop(error, { attempt }), "changed");
      const stopped = async (by: Parameters<typeof ledger.stop>[1]) => {
        assert.equal(await ledger.stop(error, by), "stopped");
        await ledger.setStatus("running");
      };
      await stopped({ attempt: two });
      await ledger.fence(two, failureOf());
      await stopped({ attempt: two });
      await stopped({ owner: 1 });
      assert.equal(await ledger.stop(error, { owner: 2 }), "changed");
    },
  );

  check("I8: a zombie of a decided attempt or of a settled unit may not stop the pipeline", async (ledger) => {
    await begin(ledger);
    const attempt = await decided(ledger, 1);
    const unit = { epoch: 1, sink: "out", key: "0" };
    assert.equal(await ledger.stop(error, { attempt }), "changed");
    assert.equal(await ledger.stop(error, { unit }), "stopped");
    await ledger.setStatus("running");
    await ledger.commitUnit(1, "out", "0");
    assert.equal(await ledger.stop(error, { unit }), "changed");
    assert.equal(await ledger.stop(error, { unit: { ...unit, epoch: 2 } }), "changed");
    assert.equal(await ledger.stop(error, { uncommitted: 2 }), "changed");
    assert.equal(await ledger.stop(error, { uncommitted: 1 }), "stopped");
    await ledger.setStatus("running");
    await ledger.commit(1, 5);
    assert.equal(await ledger.stop(error, { uncommitted: 1 }), "changed");
  });

  check("what a stop does not touch goes on: commits of a stopped pipeline", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1);
    await ledger.stop(error, { owner: 1 });
    assert.equal(await ledger.commitUnit(1, "out", "0"), "committed");
    assert.equal(await ledger.commit(1, 5), "committed");
    await ledger.setStatus("running");
    await committed(ledger, 2);
  });
}
