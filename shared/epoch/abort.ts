import { InfrastructureError } from "../errors.ts";
import type { EpochId } from "../ports/ledger.ts";
import { messageInCause } from "./cause.ts";
import type { Engine } from "./engine.ts";
import type { EpochRow, Failure } from "./epoch.ts";
import { backOff } from "./policy.ts";

/** What the state machine knows of a failure: an error that it caught, or the outcome of Decide. */
export interface Failed {
  readonly failure: { readonly Error?: string; readonly Cause?: string; readonly outcome?: string };
}

export type AbortInput = EpochId & Failed;

export interface AbortAnswer {
  readonly outcome: "aborted" | "decided";
  /** How long to wait before Plan. */
  readonly waitSeconds: number;
}

/**
 * Gives up an attempt (protocol §5): first fences it, in one conditional write, after which it can never be decided; only then ends what its tasks
 * have prepared. An attempt that turns out to be decided is left alone: it must be committed.
 */
export async function abort(engine: Engine, input: AbortInput): Promise<AbortAnswer> {
  const { ledger, policy, clock } = engine;
  const fenced = await ledger.fence(input, failureOf(input));
  if (fenced.outcome === "decided") return { outcome: "decided", waitSeconds: 0 };
  if (fenced.outcome === "superseded") return { outcome: "aborted", waitSeconds: 0 };
  await endPrepared(engine, input);
  const { row } = fenced;
  const stopped = await stopIfHopeless(engine, row);
  const waitMs = stopped || input.failure.outcome === "replan" ? 0 : backOff(policy, row.failures);
  if (waitMs < 1000) await clock.sleep(waitMs);
  return { outcome: "aborted", waitSeconds: waitMs < 1000 ? 0 : Math.round(waitMs / 1000) };
}

/** Seconds that the state machine rests after a failure that no attempt explains. */
const restSeconds = 10;

/**
 * Gives up the attempt that nothing has become of yet: what an invocation of several epochs was at when it died, which can tell nobody. So the next attempt can be
 * smaller, if that was too much (I1).
 *
 * @param abortAttempt how an attempt is given up
 */
export async function abortUnfinished(
  engine: Engine,
  { failure }: Failed,
  abortAttempt: (input: AbortInput) => Promise<AbortAnswer> = (input) => abort(engine, input),
): Promise<AbortAnswer> {
  const head = await engine.ledger.head();
  const row = head && (await engine.ledger.epoch(head.decided + 1));
  if (row?.status !== "planned") return { outcome: "aborted", waitSeconds: restSeconds };
  return await abortAttempt({ epoch: row.epoch, attempt: row.attempt, failure });
}

/** Transactions of acknowledged tasks. Those that were never acknowledged are swept by the collector. */
async function endPrepared(engine: Engine, id: EpochId): Promise<void> {
  for (const ack of await engine.ledger.acks(id))
    for (const { sink, handle } of ack.prepared) await engine.sink(sink).abort(handle);
}

/** Errors of user code and losses (I8) do not pass by themselves: after some attempts the pipeline stops. */
async function stopIfHopeless(engine: Engine, row: EpochRow): Promise<boolean> {
  const { epoch, attempt, failure, failures } = row;
  if (!failure || failure.error.kind === "infrastructure" || failures < engine.policy.attempts) return false;
  const error = { ...failure.error, place: { pipeline: engine.topology.name, epoch, attempt, ...failure.error.place } };
  return (await engine.ledger.stop(error, { attempt: { epoch, attempt } })) === "stopped";
}

/** Used where no task noted a failure of its own: those of user code and losses are always noted. */
function failureOf(input: AbortInput): Failure {
  const { Error: name = "", Cause: cause = "", outcome } = input.failure;
  const text = messageInCause(cause) || name || `a task did not finish (${outcome ?? "unknown"})`;
  // A hint only: a wrong guess makes the next epoch smaller than it need be, never wrong (I1 allows it).
  const shrink = /time(d )?-?out|out.?of.?memory|heap limit|signal: killed|ExitError/i.test(`${name} ${cause}`);
  return { error: new InfrastructureError("attempt-failed", text).describe(), shrink };
}
