import type { EpochRow } from "../../shared/epoch/epoch.ts";
import type { OperateOutcome } from "../../shared/epoch/operate.ts";
import type { PlanAnswer, TaskName } from "../../shared/epoch/plan.ts";
import { describeError } from "../../shared/errors.ts";
import type { EpochId, Ledger } from "../../shared/ports/ledger.ts";
import type { Handlers } from "../machine.ts";
import type { Watcher } from "./events.ts";

/** What is told of a step of the state machine once it has answered. */
type Told = (input: never, answer: never, startedAt: number) => Promise<void> | void;

/** The functions of the state machine, with whoever watches being told what they did. What cannot be told is not worth a failed step. */
export function watchedHandlers(handlers: Handlers, ledger: Ledger, watch: Watcher): Handlers {
  const told = tellers(ledger, watch);
  const watched = (step: string, handler: Handlers[string]) => async (input: never) => {
    const startedAt = performance.now();
    try {
      const answer = await handler(input);
      await quietly(() => told[step]?.(input, answer as never, startedAt));
      return answer;
    } catch (error) {
      await quietly(() => tellFailure(watch, step, input, error));
      throw error;
    }
  };
  return Object.fromEntries(Object.entries(handlers).map(([step, handler]) => [step, watched(step, handler)]));
}

async function quietly(tell: () => Promise<void> | void): Promise<void> {
  try {
    await tell();
  } catch {}
}

function tellers(ledger: Ledger, watch: Watcher): Readonly<Record<string, Told>> {
  let committed = 0;
  /** Of steps that are repeated each answers that the epoch is committed. */
  const tellCommitted = (row: EpochRow | undefined) => {
    if (row?.status !== "decided" || row.committedAt === null || row.epoch <= committed) return;
    committed = row.epoch;
    watch({ type: "epoch-committed", row });
  };
  /** Under the weaker guarantees nothing is left to commit. */
  const tellDecided = async (epoch: number) => {
    const row = await ledger.epoch(epoch);
    if (row?.status !== "decided") return;
    watch({ type: "epoch-decided", row, acks: await ledger.acks({ epoch, attempt: row.attempt }) });
    tellCommitted(row);
  };
  return {
    Plan: async (_: unknown, answer: PlanAnswer) => {
      if (answer.action === "end" && answer.start !== undefined) watch({ type: "handed-over", to: answer.start });
      // At-most-once: an attempt that came to nothing, and is not tried again.
      if (answer.action === "again" && answer.lost !== undefined) await tellDecided(answer.lost);
      const planned = "process" in answer ? answer.process : undefined;
      const row = planned && (await ledger.epoch(planned.epoch));
      if (row?.attempt === planned?.attempt && row) watch({ type: "epoch-planned", row });
    },
    Operate: ({ epoch, attempt, stage, task }: TaskName, { outcome }: { outcome: OperateOutcome }, startedAt) => {
      const durationMs = Math.round(performance.now() - startedAt);
      watch({ type: "task-ended", task: { epoch, attempt, stage, task }, outcome, durationMs });
    },
    Decide: async ({ epoch }: EpochId, { outcome }: { outcome: string }) => {
      if (outcome === "decided") await tellDecided(epoch);
    },
    Abort: async (id: EpochId, { outcome }: { outcome: string }) => {
      if (outcome === "decided") return await tellDecided(id.epoch);
      const row = await ledger.epoch(id.epoch);
      const mine = row?.attempt === id.attempt ? row : undefined;
      const { epoch, attempt } = id;
      const error = mine?.failure?.error ?? null;
      watch({ type: "attempt-aborted", id: { epoch, attempt }, error, failures: mine?.failures ?? 0 });
    },
    Seal: async ({ epoch }: { epoch: number }, { outcome }: { outcome: string }) => {
      if (outcome === "committed") tellCommitted(await ledger.epoch(epoch));
    },
  };
}

function tellFailure(watch: Watcher, step: string, input: unknown, thrown: unknown): void {
  const { epoch, attempt, stage, task, sink } = (input ?? {}) as Partial<TaskName> & { readonly sink?: string };
  const error = describeError(thrown);
  if ((step === "Commit" || step === "Seal") && epoch !== undefined) {
    watch({ type: "commit-failed", epoch, ...(sink !== undefined && { sink }), error });
    return;
  }
  const place = Object.fromEntries(
    Object.entries({ epoch, attempt, stage, task }).filter(([, value]) => value !== undefined),
  );
  watch({ type: "step-failed", step: step.toLowerCase(), place, error });
}
