import assert from "node:assert/strict";
import { begin, committed, decided, failureOf, planned, refusedBy, unitOf } from "./examples.ts";
import type { Check } from "./harness.ts";

export function committingSuite(check: Check): void {
  check("I4: an epoch is committed once all its units are, and again with the same answer", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1, { units: [unitOf("0"), unitOf("1")] });
    assert.equal(await ledger.commit(1, 5), "incomplete");
    for (const key of ["0", "0"]) assert.equal(await ledger.commitUnit(1, "out", key), "committed");
    assert.deepEqual(
      (await ledger.units(1)).map((one) => one.status),
      ["committed", "prepared"],
    );
    assert.equal(await ledger.commit(1, 6), "incomplete");
    await ledger.commitUnit(1, "out", "1");
    for (const now of [7, 8]) assert.equal(await ledger.commit(1, now), "committed");
    const row = await ledger.epoch(1);
    assert.equal(row?.status === "decided" && row.committedAt, 7);
    assert.equal((await ledger.head())?.committed, 1);
  });

  check("an epoch without units is committed at once", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1, { units: [] });
    assert.equal(await ledger.commit(1, 5), "committed");
  });

  check("units and epochs that are not there are nobody's to commit", async (ledger) => {
    await begin(ledger);
    assert.equal(await ledger.commit(1, 5), "out-of-order");
    await planned(ledger, 1);
    assert.equal(await ledger.commit(1, 5), "out-of-order");
    for (const epoch of [1, 7]) {
      assert.equal(await ledger.commitUnit(epoch, "out", "0"), "gone");
      assert.equal(await ledger.abandonUnit(epoch, "out", "0"), "gone");
      assert.deepEqual(await ledger.units(epoch), []);
    }
  });

  check("I4: epochs are committed in order; units in order per sink", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1, { units: [unitOf("0", "slow"), unitOf("0", "quick")] });
    await decided(ledger, 2, { units: [unitOf("0", "slow"), unitOf("0", "quick")] });
    await refusedBy("I4", ledger.commitUnit(2, "quick", "0"));
    await ledger.commitUnit(1, "quick", "0");
    assert.equal(await ledger.commitUnit(2, "quick", "0"), "committed");
    await refusedBy("I4", ledger.commitUnit(2, "slow", "0"));
    assert.equal(await ledger.commit(2, 5), "out-of-order");
    await ledger.commitUnit(1, "slow", "0");
    assert.equal(await ledger.commitUnit(2, "slow", "0"), "committed");
    assert.equal(await ledger.commit(1, 5), "committed");
    assert.equal(await ledger.commit(2, 5), "committed");
  });

  check(
    "an abandoned unit is settled, and cannot be committed; a committed one cannot be abandoned",
    async (ledger) => {
      await begin(ledger);
      await decided(ledger, 1, { units: [unitOf("0"), unitOf("1")] });
      await ledger.commitUnit(1, "out", "0");
      assert.equal(await ledger.abandonUnit(1, "out", "0"), "committed");
      for (let times = 0; times < 2; times++) assert.equal(await ledger.abandonUnit(1, "out", "1"), "abandoned");
      assert.equal(await ledger.commitUnit(1, "out", "1"), "abandoned");
      assert.deepEqual(
        (await ledger.units(1)).map((one) => one.status),
        ["committed", "abandoned"],
      );
      assert.equal(await ledger.commit(1, 5), "committed");
    },
  );

  check("an abandoned unit that was visible already counts as committed; no other can", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1, { units: [unitOf("0"), unitOf("1")] });
    assert.equal(await ledger.recoverUnit(1, "out", "0"), "gone");
    await ledger.abandonUnit(1, "out", "0");
    for (let times = 0; times < 2; times++) assert.equal(await ledger.recoverUnit(1, "out", "0"), "committed");
    assert.equal(await ledger.recoverUnit(1, "out", "unknown"), "gone");
    assert.deepEqual(
      (await ledger.units(1)).map((one) => one.status),
      ["committed", "prepared"],
    );
  });

  check("why a commit failed is noted while it is not done, and counted", async (ledger) => {
    await begin(ledger);
    const { error } = failureOf();
    const noted = async () => {
      const row = await ledger.epoch(1);
      return row?.status === "decided" ? row.commitFailure : undefined;
    };
    await ledger.failCommit(1, { sink: "out", error, now: 1 });
    await decided(ledger, 1);
    assert.equal(await noted(), null);
    for (const now of [3, 5]) await ledger.failCommit(1, { sink: "out", error, now });
    assert.deepEqual(await noted(), { sink: "out", error, count: 2, since: 3, at: 5 });
    await ledger.commitUnit(1, "out", "0");
    await ledger.commit(1, 6);
    await ledger.failCommit(1, { sink: "out", error, now: 7 });
    assert.equal((await noted())?.count, 2);
  });

  check("the next epoch may be planned and decided while one waits for its commit", async (ledger) => {
    await begin(ledger);
    await decided(ledger, 1);
    await decided(ledger, 2);
    const head = await ledger.head();
    assert.deepEqual([head?.decided, head?.committed], [2, 0]);
    await ledger.commitUnit(1, "out", "0");
    assert.equal(await ledger.commit(1, 5), "committed");
    await ledger.commitUnit(2, "out", "0");
    assert.equal(await ledger.commit(2, 5), "committed");
    await committed(ledger, 3);
  });
}
