import assert from "node:assert/strict";
import { type Check, owner, performEpoch, type SinkUnderTest, sees } from "./sink-scenario.ts";

/** The weaker guarantees: rows are visible at once, and nothing tells of them. Only sinks that have `publish`. */
export function publishing<T>(check: Check<T>): void {
  const invocation = async (target: SinkUnderTest<T>, nonce: string, epoch = 1, attempt = 1) => {
    const sink = target.open();
    await sink.open({ ...owner, direct: true });
    const context = { ...owner, epoch, attempt, stage: 0, task: 0, nonce, direct: true } as const;
    const transaction = await sink.begin(context);
    const rows = [1, 2, 3].map((row) => target.row(epoch * 1000 + row));
    transaction.write(rows.slice(0, 1));
    await transaction.drained();
    transaction.write(rows.slice(1));
    return { sink, rows, transaction, publish: () => sink.publish!(transaction) };
  };
  check("what is published is seen at once, and nothing before", async (target) => {
    const done = await performEpoch(target, 2);
    const one = await invocation(target, "one", 3);
    await sees(target, done);
    await one.publish();
    await sees(target, done, one);
    const later = await performEpoch(target, 4);
    await sees(target, done, one, later);
  });
  check("published rows take nobody's place: another invocation's come on top", async (target) => {
    const calls = [
      await invocation(target, "one"),
      await invocation(target, "two"),
      await invocation(target, "three", 1, 2),
    ];
    await Promise.all(calls.map(({ publish }) => publish()));
    await sees(target, ...(target.replaces ? calls.slice(0, 1) : calls));
  });
  check(
    "a task without rows publishes nothing, and one that dies before leaves nothing but what a sweep takes",
    async (target) => {
      const sink = target.open();
      await sink.open({ ...owner, direct: true });
      const context = { ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "none", direct: true } as const;
      const empty = await sink.begin(context);
      empty.write([]);
      await sink.publish!(empty);
      await invocation(target, "dies");
      const given = await invocation(target, "discarded");
      await given.transaction.discard?.();
      await target.open().sweep?.(owner, () => true);
      await sees(target);
      assert.equal((await target.open().sweep?.(owner, () => true)) ?? 0, 0);
    },
  );
}
