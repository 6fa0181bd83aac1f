import assert from "node:assert/strict";
import { type Check, decided, perform, performEpoch, sees } from "./sink-scenario.ts";

/** A person gives up what cannot be committed: it must not appear afterwards, and if it is there already, he must not be told that it is lost. Only sinks that have `abandon`. */
export function abandoning<T>(check: Check<T>): void {
  check("what is given up is never seen, whoever commits it later; what comes after it is", async (target) => {
    const first = await performEpoch(target, 2);
    const given = await decided(target, 4);
    const zombie = given.commitSteps(target.open());
    await perform(zombie.slice(0, 1));
    assert.deepEqual(new Set(await given.abandon(target.open())), new Set(["lost"]));
    // It may fail, in whatever way: nobody waits for it.
    for (const step of zombie.slice(1)) await step().catch(() => {});
    const later = await decided(target, 6);
    await perform(later.complete(target.open()));
    for (const step of zombie.slice(1)) await step().catch(() => {});
    await sees(target, first, later);
  });
  check("what was committed before it is given up is seen, and not told to be lost", async (target) => {
    const epoch = await decided(target);
    await perform(epoch.commitSteps(target.open()));
    const answers = await epoch.abandon(target.open());
    assert.ok(!answers.includes("lost"), "it is committed");
    await perform(epoch.complete(target.open()));
    const later = await performEpoch(target, 4);
    await sees(target, epoch, later);
  });
}
