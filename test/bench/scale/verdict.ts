/** What must hold of a dimension. */
export interface Limit {
  /** For the table: "CPU a record", "snapshot bytes of an epoch". */
  readonly what: string;
  /** By how much a later point may be above an earlier one, as a factor. */
  readonly mostGrowth?: number;
  /** What no point may be above. */
  readonly most?: number;
}

export interface Verdict extends Limit {
  readonly dimension: string;
  /** The largest growth, or the largest value. */
  readonly found: number;
  readonly holds: boolean;
}

/**
 * From the figures of a dimension's points, in their order. Of each pair the later one counts against the earlier one: so a fixed cost, which makes the first
 * ones dear, hides nothing that grows.
 */
export function judge(dimension: string, limit: Limit, figures: readonly number[]): Verdict {
  const found = limit.most === undefined ? largestGrowth(figures) : Math.max(...figures);
  // What is not a number holds nothing.
  return { dimension, ...limit, found, holds: found <= (limit.most ?? limit.mostGrowth!) };
}

function largestGrowth(figures: readonly number[]): number {
  let growth = 1;
  for (const [index, one] of figures.entries())
    for (const later of figures.slice(index + 1)) growth = Math.max(growth, one === 0 && later === 0 ? 1 : later / one);
  return growth;
}
