import { UsageError } from "../errors.ts";
import type { Ledger } from "../ports/ledger.ts";

/**
 * The way out of a commit that can never succeed (protocol §9): by the user's word, a sink's units of the oldest uncommitted epoch count as lost.
 * The pipeline goes on after `resume`.
 */
export async function abandonSink(
  ledger: Ledger,
  epoch: number,
  sink: string,
): Promise<{ lost: number; committed: number }> {
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
  const result = { lost: 0, committed: 0 };
  for (const { key } of units) {
    const outcome = await ledger.abandonUnit(epoch, sink, key);
    if (outcome === "abandoned") result.lost++;
    else result.committed++;
  }
  return result;
}
