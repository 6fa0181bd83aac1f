import { UsageError } from "../errors.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { TwoPhaseCommitSink } from "../ports/sink.ts";
import { commitContext } from "./commit-context.ts";

/**
 * The way out of a commit that can never succeed (protocol §9): by the user's word, a sink's units of the oldest uncommitted epoch count as lost.
 * The pipeline goes on after `resume`.
 *
 * The row is marked first: a committer that begins after that finds it so, and lets it be. Only then does the sink end those that began before, and
 * look whether one of them has succeeded. If this stops in between, the next commit of the key still follows `previous` through abandoned units.
 */
export async function abandonSink(
  {
    ledger,
    target,
    pipeline,
    uid,
  }: {
    ledger: Ledger;
    target: Pick<TwoPhaseCommitSink, "abandon">;
    pipeline: string;
    uid: string;
  },
  epoch: number,
  sink: string,
): Promise<{ lost: number; committed: number; unknown: number }> {
  const head = await ledger.head();
  if (!head || epoch <= head.committed || epoch > head.decided)
    throw new UsageError("not-uncommitted", `epoch ${epoch} is not decided and uncommitted`, {
      wayOut: "`epochflow status` names the epochs that wait for their commit",
    });
  const units = await ledger.units(epoch, sink);
  if (units.length === 0)
    throw new UsageError("no-units", `sink ${sink} has nothing to commit in epoch ${epoch}`, {
      wayOut: `sinks that have: ${[...new Set((await ledger.units(epoch)).map((one) => one.sink))].join(", ") || "none"}`,
    });
  const unknown = new Set<string>();
  for (const unit of units) {
    const outcome = await ledger.abandonUnit(epoch, sink, unit.key);
    if (outcome !== "abandoned" || target.abandon === undefined) continue;
    const context = commitContext(ledger, { pipeline, uid, sink }, epoch, unit);
    const answer = await target.abandon(context);
    if (answer === "committed") await context.ledger.recover(epoch);
    if (answer === "unknown") unknown.add(unit.key);
  }
  // Read again: whoever commits next may have found, too, that a unit is visible.
  const settled = await ledger.units(epoch, sink);
  const abandoned = settled.filter(({ status }) => status === "abandoned");
  const lost = abandoned.filter(({ key }) => !unknown.has(key)).length;
  return { lost, committed: settled.length - abandoned.length, unknown: abandoned.length - lost };
}
