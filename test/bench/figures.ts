/** Medians of runs, as numbers and as text. */

export function medianOf(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median, and in parentheses the lowest and the highest. */
export function spreadOf(values: readonly number[], digits = 0): string {
  const grouped = (value: number) =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return none;
  const [lowest, highest] = [Math.min(...finite), Math.max(...finite)].map(grouped);
  const median = grouped(medianOf(finite));
  return lowest === highest ? median : `${median} (${lowest}–${highest})`;
}

/** How many times the baseline. */
export function timesOf(value: number, base: number): string {
  return Number.isFinite(value / base) ? `${(value / base).toFixed(2)}×` : none;
}

export function percentOf(value: number, base: number): string {
  return Number.isFinite(value / base) ? `${Math.round((value / base) * 100)} %` : none;
}

/** For JSON, which has no NaN. */
export function rounded(value: number, digits = 0): number | null {
  return Number.isFinite(value) ? Number(value.toFixed(digits)) : null;
}

const none = "–";
