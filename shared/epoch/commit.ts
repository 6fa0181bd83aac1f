import { describeError, LossError } from "../errors.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { CommitContext, TwoPhaseCommitSink } from "../ports/sink.ts";
import { commitContext } from "./commit-context.ts";
import type { Engine } from "./engine.ts";
import type { Unit } from "./epoch.ts";

/**
 * Makes the units of one sink and decided epoch visible (I4): in epoch order per sink, idempotent also for a delayed zombie, and tried again by
 * whichever execution comes next. A unit that can never be committed stops the pipeline, if it is still wanted (I8).
 */
export async function commit(
  engine: Engine,
  { epoch, sink }: { epoch: number; sink: string },
): Promise<"committed" | "waiting" | "stopped"> {
  const { ledger, topology, uid } = engine;
  const head = await ledger.head();
  if (!head || head.committed >= epoch) return "committed";
  if (head.committed < epoch - 1) return "waiting";
  const target = engine.sink(sink);
  const owner = { pipeline: topology.name, uid, sink };
  const pending = (await ledger.units(epoch, sink)).filter(({ status }) => status === "prepared");
  for (const [index, { key, unit }] of pending.entries()) {
    const context = commitContext(ledger, owner, epoch, { key, unit });
    try {
      if (index === 0) await target.open(owner);
      await target.commit(context);
      await committed(ledger, target, context);
    } catch (error) {
      if (!(error instanceof LossError)) throw await noted(engine, epoch, sink, error);
      return await stopIfWanted(engine, error, { epoch, sink }, { unit: { epoch, sink, key } });
    }
  }
  return "committed";
}

/** Somebody may have given the unit up meanwhile, by whose word it is lost: but perhaps it is visible. */
async function committed(ledger: Ledger, target: TwoPhaseCommitSink, context: CommitContext): Promise<void> {
  const { epoch, sink, key } = context;
  if ((await ledger.commitUnit(epoch, sink, key)) !== "abandoned") return;
  if ((await target.abandon?.(context)) === "committed") await context.ledger.recover(epoch);
}

/** For `status`. That it could not be noted matters less than the error itself. */
async function noted({ ledger, clock }: Engine, epoch: number, sink: string, error: unknown): Promise<unknown> {
  await ledger.failCommit(epoch, { sink, error: describeError(error), now: clock.now() }).catch(() => undefined);
  return error;
}

type Uncommitted = Parameters<Ledger["stop"]>[1];

/** For a zombie, what is missing was collected after somebody else's commit: only what is still uncommitted is a loss (I8). */
async function stopIfWanted(engine: Engine, error: LossError, where: { epoch: number; sink: string }, by: Uncommitted) {
  const place = { pipeline: engine.topology.name, ...where, ...error.place };
  const stopped = await engine.ledger.stop({ ...error.describe(), place }, by);
  return stopped === "stopped" ? "stopped" : "committed";
}

/** All units are committed: completes the epoch at its sinks, then HEAD.committed moves on (I4). */
export async function seal(
  engine: Engine,
  { epoch }: { epoch: number },
): Promise<"committed" | "incomplete" | "out-of-order" | "stopped"> {
  const { ledger, topology, uid, clock } = engine;
  const head = await ledger.head();
  if (!head || head.committed >= epoch) return "committed";
  if (head.committed < epoch - 1) return "out-of-order";
  const units = await ledger.units(epoch);
  if (units.some((one) => one.status === "prepared")) return "incomplete";
  for (const [sink, committed] of Map.groupBy(
    units.filter((one) => one.status === "committed"),
    (one: Unit) => one.sink,
  ))
    try {
      await engine.sink(sink).seal?.({ pipeline: topology.name, uid, sink, epoch, units: committed });
    } catch (error) {
      if (!(error instanceof LossError)) throw error;
      return await stopIfWanted(engine, error, { epoch, sink }, { uncommitted: epoch });
    }
  return await ledger.commit(epoch, clock.now());
}
