import { addTo } from "../operators/counts.ts";
import { type Ack, type Decision, type EpochRow, type Loss, type LostSoFar, tasksOf } from "./epoch.ts";

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, one) => total + one, 0);

/** Rows of the ack are visible, or about to be. */
export const hasRows = ({ counts }: Ack): boolean => sum(counts.rows) > 0;

/** What an epoch loses (at-most-once), and all that was lost before it. Nothing where nothing is. */
export function lossOf(
  row: EpochRow,
  acks: readonly Ack[],
  before: Decision | undefined,
): { loss?: Loss; lostSoFar?: LostSoFar } {
  const loss = row.attemptPlan.guarantee === "at-most-once" ? lossIn(row, acks) : undefined;
  const earlier = before?.lostSoFar;
  if (loss === undefined) return earlier === undefined ? {} : { lostSoFar: earlier };
  const { epochs, shares, rows } = earlier ?? { epochs: 0, shares: 0, rows: 0 };
  return {
    loss,
    lostSoFar: { epochs: epochs + 1, shares: shares + loss.shares.length, rows: rows + sum(loss.rows) },
  };
}

function lossIn(row: EpochRow, acks: readonly Ack[]): Loss | undefined {
  const isAcked = ({ stage, task }: { stage: number; task: number }) =>
    acks.some((ack) => ack.stage === stage && ack.task === task);
  const shares = tasksOf(row).filter((task) => !isAcked(task));
  const rows: Record<string, number> = {};
  for (const { counts, published = [] } of acks)
    for (const [sink, count] of Object.entries(counts.rows))
      if (count > 0 && !published.includes(sink)) addTo(rows, sink, count);
  return shares.length === 0 && sum(rows) === 0 ? undefined : { shares, rows };
}
