import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../adapters/memory/ledger.ts";
import type { Executions } from "../ports/executions.ts";
import { executionName } from "./names.ts";
import { startOwner, wake } from "./wake.ts";

/** Step Functions, as far as names go: somebody has started and stopped those that are `over`. */
function executions(over: readonly number[]): Executions & { readonly started: string[] } {
  const used = new Map(over.map((run) => [executionName("words", "u1", run), "over" as const]));
  const started: string[] = [];
  return {
    started,
    async start(name) {
      if (used.has(name) || started.includes(name)) return "exists";
      started.push(name);
      return "started";
    },
    describe: async (name) => used.get(name) ?? (started.includes(name) ? "running" : "missing"),
  };
}

test("a successor whose name somebody has used up does not hold the lease for ever (I7)", async () => {
  const ledger = new MemoryLedger();
  await ledger.open({ pipeline: "words", uid: "u1", fingerprint: "{}" });
  const trigger = { pipeline: "words", uid: "u1", ledger, executions: executions([2]) };
  assert.equal(await wake(trigger), "started");
  assert.equal(await ledger.handOver(1), 2);
  await startOwner(trigger, executionName("words", "u1", 2));
  assert.deepEqual(
    trigger.executions.started,
    [1, 3].map((run) => executionName("words", "u1", run)),
  );
  assert.equal((await ledger.wake()).owner, 3);
});
