import assert from "node:assert/strict";
import { LossError, UserCodeError } from "../errors.ts";
import { badRow, type Check, exclusive, owner, publish, sees, where } from "./sink-scenario.ts";

/** What a sink must not take: somebody else's target, and rows that it cannot write. */
export function refusals<T>(check: Check<T>): void {
  const ofOne = where(check, exclusive);
  const ofBadRows = where(check, badRow);
  ofOne("a target that belongs to another ledger or sink is refused", async (target) => {
    await target.open().open(owner);
    for (const other of [{ pipeline: "other" }, { uid: "ledger-2" }, { sink: "other" }]) {
      await assert.rejects(target.open().open({ ...owner, ...other }), LossError);
    }
    await target.open().open(owner);
  });
  ofOne("of two that open a target at the same time, one gets it", async (target) => {
    const uids = ["ledger-1", "ledger-2", "ledger-3"];
    const opened = await Promise.allSettled(uids.map((uid) => target.open().open({ ...owner, uid })));
    assert.equal(opened.filter(({ status }) => status === "fulfilled").length, 1);
  });
  ofBadRows("a row that cannot be encoded is the user's error, and names the sink", async (target) => {
    const sink = target.open();
    await sink.open(owner);
    const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
    const named = (error: unknown) => error instanceof UserCodeError && error.place.sink === owner.sink;
    assert.throws(() => transaction.write([target.row(1), target.badRow as T]), named);
    await transaction.discard?.();
  });
  ofBadRows(
    "a row that cannot be encoded is refused, where one asks for it, and the others are written",
    async (target) => {
      const bad = target.badRow as T;
      const sink = target.open();
      await sink.open(owner);
      const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
      const refused: number[] = [];
      transaction.write([bad, target.row(1), bad, target.row(2), bad], (index) => refused.push(index));
      assert.deepEqual(refused, [0, 2, 4]);
      await publish(sink, { stage: 0, task: 0, handle: (await sink.preCommit(transaction))! });
      await sees(target, { rows: [target.row(1), target.row(2)] });
    },
  );
}
