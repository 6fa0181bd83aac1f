import assert from "node:assert/strict";
import type { EpochId } from "../../ports/ledger.ts";
import { ackOf, begin, committed, decided, failureOf, planned, refusedBy, unitOf } from "./examples.ts";
import type { Check } from "./harness.ts";

export function retentionSuite(check: Check): void {
  check("I5: of drop and pin one loses", async (ledger) => {
    await begin(ledger);
    for (let epoch = 1; epoch <= 3; epoch++) await committed(ledger, epoch);
    assert.equal(await ledger.pin(1, "save"), "pinned");
    assert.equal((await ledger.drop([1]))[0], "pinned");
    assert.equal((await ledger.drop([2]))[0], "dropped");
    assert.equal((await ledger.drop([2]))[0], "dropped");
    assert.equal(await ledger.pin(2, "save"), "dropped");
    const rows = await ledger.epochs({ from: 1, to: 2 });
    assert.deepEqual(
      rows.map((one) => one.status === "decided" && [one.dropped, one.pins]),
      [
        [false, ["save"]],
        [true, []],
      ],
    );
  });

  check("I5: pins are named, and hold until the last is gone", async (ledger) => {
    await begin(ledger);
    for (let epoch = 1; epoch <= 2; epoch++) await committed(ledger, epoch);
    for (const name of ["a", "b", "a"]) await ledger.pin(1, name);
    const row = await ledger.epoch(1);
    assert.deepEqual(row?.status === "decided" && row.pins, ["a", "b"]);
    await ledger.unpin(1, "a");
    await ledger.unpin(1, "unknown");
    assert.equal((await ledger.drop([1]))[0], "pinned");
    await ledger.unpin(1, "b");
    assert.equal((await ledger.drop([1]))[0], "dropped");
  });

  check("I5: the last decided checkpoint is never dropped; others are no checkpoints", async (ledger) => {
    await begin(ledger);
    await committed(ledger, 1);
    await planned(ledger, 2);
    assert.equal((await ledger.drop([1]))[0], "pinned");
    for (const epoch of [0, 2, 3]) {
      assert.equal((await ledger.drop([epoch]))[0], "missing");
      assert.equal(await ledger.pin(epoch, "x"), "missing");
      await ledger.unpin(epoch, "x");
    }
  });

  check("trim deletes acks of former attempts, planned or decided", async (ledger) => {
    await begin(ledger);
    const old = await planned(ledger, 1);
    await ledger.ack(old, ackOf("old"));
    await ledger.fence(old, failureOf());
    const now = await planned(ledger, 1, { seen: 1 });
    await ledger.ack(now, ackOf("new"));
    assert.equal(await ledger.trim({ detailsFrom: 1, epochsFrom: 1 }), 1);
    assert.deepEqual(await ledger.acks(old), []);
    assert.deepEqual(await ledger.acks(now), [ackOf("new")]);
    assert.equal(await ledger.trim({ detailsFrom: 99, epochsFrom: 99 }), 0);
    assert.deepEqual(await ledger.ack(old, ackOf("old")), { outcome: "fenced" });
  });

  check("trim deletes details of committed epochs, and none of others", async (ledger) => {
    await begin(ledger);
    const ids: EpochId[] = [];
    for (let epoch = 1; epoch <= 3; epoch++)
      ids.push(await committed(ledger, epoch, { units: [unitOf("0"), unitOf("1")] }));
    ids.push(await decided(ledger, 4));
    const left = async () => {
      const acks = await Promise.all(ids.map(async (id) => (await ledger.acks(id)).length));
      return [acks, await Promise.all(ids.map(async ({ epoch }) => (await ledger.units(epoch)).length))];
    };
    assert.equal(await ledger.trim({ detailsFrom: 3, epochsFrom: 0 }), 6);
    assert.deepEqual(await left(), [
      [0, 0, 1, 1],
      [0, 0, 2, 1],
    ]);
    assert.equal(await ledger.trim({ detailsFrom: 99, epochsFrom: -5 }), 3);
    assert.deepEqual(await left(), [
      [0, 0, 0, 1],
      [0, 0, 0, 1],
    ]);
    assert.equal((await ledger.epochs({ from: 1, to: 9 })).length, 4);
    assert.equal(await ledger.commitUnit(1, "out", "0"), "gone");
    assert.equal(await ledger.commit(1, 9), "committed");
  });

  check("trim keeps abandoned units, with their epochs", async (ledger) => {
    await begin(ledger);
    const units = [unitOf("0"), unitOf("1")];
    await decided(ledger, 1, { units });
    await ledger.commitUnit(1, "out", "0");
    await ledger.abandonUnit(1, "out", "1");
    await ledger.commit(1, 5);
    for (let epoch = 2; epoch <= 4; epoch++) await committed(ledger, epoch);
    await ledger.drop([1, 2]);
    await ledger.trim({ detailsFrom: 4, epochsFrom: 4 });
    assert.deepEqual(await ledger.units(1), [{ ...units[1], status: "abandoned" }]);
    assert.deepEqual(
      (await ledger.epochs({ from: 0, to: 9 })).map((one) => one.epoch),
      [1, 3, 4],
    );
  });

  check(
    "trim keeps the epochs in which unit keys last had output, as long as a commit may ask for them",
    async (ledger) => {
      await begin(ledger);
      await committed(ledger, 1, { units: [unitOf("0"), unitOf("0", "late")] });
      await committed(ledger, 2);
      await committed(ledger, 3, { units: [] });
      await decided(ledger, 4, { units: [unitOf("0"), unitOf("0", "late")] });
      await ledger.drop([1, 2, 3]);
      const numbers = async () => {
        await ledger.trim({ detailsFrom: 99, epochsFrom: 99 });
        return (await ledger.epochs({ from: 0, to: 9 })).map((one) => one.epoch);
      };
      assert.deepEqual(await numbers(), [1, 2, 4]);
      for (const sink of ["out", "late"]) await ledger.commitUnit(4, sink, "0");
      await ledger.commit(4, 9);
      assert.deepEqual(await numbers(), [4]);
    },
  );

  check("I5: trim deletes epochs that are dropped and unpinned, never the one to go on from", async (ledger) => {
    await begin(ledger);
    for (let epoch = 1; epoch <= 5; epoch++) await committed(ledger, epoch);
    await ledger.pin(2, "save");
    await ledger.drop([1, 2, 4, 5]);
    await ledger.trim({ detailsFrom: 6, epochsFrom: 4 });
    const numbers = async () => (await ledger.epochs({ from: 0, to: 9 })).map((one) => one.epoch);
    assert.deepEqual(await numbers(), [2, 3, 4, 5]);
    assert.equal(await ledger.pin(1, "late"), "missing");
    await ledger.trim({ detailsFrom: 99, epochsFrom: 99 });
    assert.deepEqual(await numbers(), [2, 3, 5]);
    await refusedBy("I5", ledger.trim({ detailsFrom: 3, epochsFrom: 4 }));
    await committed(ledger, 6);
  });
}
