import type { EpochData, PageData } from "../page-data.ts";

/** What the page knows: the last message, and the epochs of all of them. */
export interface Model {
  readonly data: PageData;
  /** Ascending. */
  readonly epochs: readonly EpochData[];
  /** Server's clock less ours, milliseconds. */
  readonly skewMs: number;
}

export function takeMessage(model: Model | undefined, data: PageData): Model {
  const known = new Map((data.all ? olderThan(model, data) : (model?.epochs ?? [])).map((one) => [one.epoch, one]));
  for (const epoch of data.epochs) known.set(epoch.epoch, epoch);
  return { data, epochs: ascending(known), skewMs: data.now - Date.now() };
}

/** Epochs from further back, which somebody has asked for. */
export function takeOlder(model: Model, older: readonly EpochData[]): Model {
  const known = new Map([...older, ...model.epochs].map((one) => [one.epoch, one]));
  return { ...model, epochs: ascending(known) };
}

/** A connection that was lost and is back tells of the last epochs: those before them are still true, if it is the same pipeline. */
function olderThan(model: Model | undefined, { uid, epochs }: PageData): readonly EpochData[] {
  const first = epochs[0]?.epoch;
  if (model?.data.uid !== uid || first === undefined) return [];
  const older = model.epochs.filter(({ epoch }) => epoch < first);
  return older.at(-1)?.epoch === first - 1 ? older : [];
}

const ascending = (epochs: ReadonlyMap<number, EpochData>) =>
  [...epochs.values()].sort((one, other) => one.epoch - other.epoch);

/** The server's time. */
export const nowOf = ({ skewMs }: Pick<Model, "skewMs">): number => Date.now() + skewMs;

export const rowsOf = ({ counts }: EpochData): number =>
  Object.values(counts?.rows ?? {}).reduce((sum, rows) => sum + rows, 0);

/** From plan to decision; null before that. */
export const durationOf = ({ plannedAt, decidedAt }: EpochData): number | null =>
  decidedAt === null ? null : Math.max(0, decidedAt - plannedAt);

/** A value between the smallest and the largest, of so many hundredths; null where there are none. */
export function percentile(values: readonly number[], percent: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))]!;
}

/** Per second, over the epochs that were decided in the last so many milliseconds before the last decision; null for one moment alone. */
export function rateOf(
  epochs: readonly EpochData[],
  value: (epoch: EpochData) => number,
  windowMs: number,
): number | null {
  const decided = epochs.filter(({ decidedAt, counts }) => decidedAt !== null && counts !== null);
  const last = decided.at(-1)?.decidedAt;
  if (last === undefined || last === null) return null;
  const recent = decided.filter(({ decidedAt }) => last - decidedAt! < windowMs);
  const from = recent[0]!.plannedAt;
  if (last <= from) return null;
  return recent.reduce((sum, epoch) => sum + value(epoch), 0) / ((last - from) / 1000);
}
