import type { Executions } from "../ports/executions.ts";
import type { Ledger, Wake } from "../ports/ledger.ts";
import { executionName, runOf } from "./names.ts";

interface Trigger {
  readonly pipeline: string;
  readonly uid: string;
  readonly ledger: Ledger;
  readonly executions: Executions;
}

/**
 * Wakes the coordinator (I7). Called for every event of a source, heartbeat, deployment and resume, and for every execution that ended badly, whose
 * event is the proof that it is over (`over`: its run number). Throws if no execution could be started: the event must be delivered again.
 *
 * A lease is only ever written to a name before that name is started, so that nobody plans without one and a lost start is found by the next wake-up.
 */
export async function wake(trigger: Trigger, over: number | null = null): Promise<"started" | "running" | "counted"> {
  const { ledger, executions, pipeline, uid } = trigger;
  const name = (run: number) => executionName(pipeline, uid, run);
  let seen: Wake = await ledger.increment(over);
  // After the increment: a resume sets the status before it wakes, so whichever comes first, one of the two starts an execution.
  if ((await ledger.head())?.status !== "running") return "counted";
  for (;;) {
    const owner = seen.owner === null ? "over" : await executions.describe(name(seen.owner));
    if (owner === "running") return "running";
    const run = owner === "missing" ? seen.owner : await ledger.grant({ owner: seen.owner, run: seen.run });
    if (run !== null) {
      if ((await executions.start(name(run))) === "started") return "started";
      // The name is used: by somebody who woke the same lease, and runs; or by one that is over already.
      if (run !== over && (await executions.describe(name(run))) === "running") return "running";
    }
    seen = await ledger.wake();
  }
}

/**
 * Starts the execution that a lease names: a successor, or an owner that was never started. If its name is used up, by an execution that is over, that is the proof
 * which takes the lease from it: nobody else would wake for it (I7).
 */
export async function startOwner(trigger: Trigger, name: string): Promise<void> {
  const { executions, pipeline, uid } = trigger;
  if ((await executions.start(name)) === "started" || (await executions.describe(name)) !== "over") return;
  const run = runOf(pipeline, uid, name);
  if (run !== undefined) await wake(trigger, run);
}
