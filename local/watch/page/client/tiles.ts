import { formatBytes, formatCount, formatDuration, formatInstant } from "../../../format.ts";
import type { EpochData } from "../page-data.ts";
import { byId, h, show } from "./dom.ts";
import { durationOf, type Model, nowOf, percentile, rateOf, rowsOf } from "./model.ts";
import { type Point, spark } from "./spark.ts";

interface Tile {
  readonly title: string;
  readonly value: string;
  readonly unit?: string;
  readonly note: string;
  readonly hint: string;
  readonly points: readonly Point[];
}

const windowMs = 30_000;
const shownEpochs = 300;

export function showTiles(model: Model): void {
  const epochs = model.epochs.slice(-shownEpochs).filter(({ status }) => status !== "restored");
  const decided = epochs.filter(({ decidedAt }) => decidedAt !== null);
  const tiles = [
    lag(model, decided),
    watermark(model, decided),
    recordsIn(decided),
    rowsOut(decided),
    duration(decided),
    state(model, decided),
  ];
  show(byId("tiles"), ...tiles.map(tileOf));
}

function tileOf({ title, value, unit, note, hint, points }: Tile): HTMLElement {
  return h(
    "div",
    { class: "tile", title: hint },
    h("h3", {}, title),
    h("p", { class: "value" }, value, unit !== undefined && h("span", { class: "unit" }, unit)),
    h("p", { class: "note" }, note),
    spark(points),
  );
}

const pointsOf = (epochs: readonly EpochData[], value: (epoch: EpochData) => number | null): Point[] =>
  epochs.flatMap((epoch) => {
    const y = value(epoch);
    return y === null ? [] : [{ x: epoch.decidedAt!, y }];
  });

function lag({ data }: Model, decided: readonly EpochData[]): Tile {
  const behind = data.partitions.reduce((sum, { high, position }) => sum + Math.max(0, high - position), 0);
  const [value, unit] = data.offsets === "bytes" ? split(formatBytes(behind)) : [formatCount(behind), "records"];
  const late = data.partitions.filter(({ high, position }) => high > position).length;
  return {
    title: "Lag",
    value: data.endsAsOf === null ? "–" : value,
    unit,
    note:
      data.endsAsOf === null
        ? "no plan has looked yet"
        : late === 0
          ? "nothing waits"
          : `in ${late} of ${data.partitions.length} partitions`,
    hint: "Written to the source and not in a decided epoch, as the last plan saw it",
    points: pointsOf(decided, ({ left }) => left),
  };
}

function watermark(model: Model, decided: readonly EpochData[]): Tile {
  const { watermark: at } = model.data;
  const [value, unit] = at === null ? ["–", ""] : split(formatDuration(Math.max(0, nowOf(model) - at)));
  return {
    title: "Watermark",
    value,
    unit: at === null ? "" : `${unit} behind`,
    note: at === null ? "none yet" : formatInstant(at),
    hint: "No window that ends later has fired",
    points: pointsOf(decided, (epoch) =>
      epoch.watermark === null ? null : Math.max(0, epoch.decidedAt! - epoch.watermark),
    ),
  };
}

function recordsIn(decided: readonly EpochData[]): Tile {
  const rate = rateOf(decided, ({ counts }) => counts!.records, windowMs);
  const bytes = rateOf(decided, ({ counts }) => counts!.bytes, windowMs);
  return {
    title: "Records in",
    value: formatRate(rate),
    unit: "/s",
    note: bytes === null ? "" : `${formatBytes(bytes)}/s`,
    hint: "Records read by decided epochs, over the last half minute of work",
    points: pointsOf(decided, (epoch) => perSecond(epoch, epoch.counts!.records)),
  };
}

function rowsOut(decided: readonly EpochData[]): Tile {
  const sum = (value: (epoch: EpochData) => number) => decided.reduce((total, epoch) => total + value(epoch), 0);
  const exceptions = [
    [sum(({ counts }) => counts!.late), "late"],
    [sum(({ counts }) => counts!.deadLettered), "dead-lettered"],
    [sum(({ counts }) => counts!.skipped), "skipped"],
  ] as const;
  const told = exceptions.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  return {
    title: "Rows out",
    value: formatRate(rateOf(decided, rowsOf, windowMs)),
    unit: "/s",
    note: told.length === 0 ? "none late, none failed" : told.join(", "),
    hint: "Rows written by decided epochs, over the last half minute of work; exceptions in the epochs shown",
    points: pointsOf(decided, (epoch) => perSecond(epoch, rowsOf(epoch))),
  };
}

function duration(decided: readonly EpochData[]): Tile {
  const durations = decided.flatMap((epoch) => durationOf(epoch) ?? []);
  const commits = decided.flatMap(({ decidedAt, committedAt }) =>
    committedAt === null ? [] : committedAt - decidedAt!,
  );
  const [median, slow, commit] = [percentile(durations, 50), percentile(durations, 95), percentile(commits, 50)];
  const [value, unit] = median === null ? ["–", ""] : split(formatDuration(median));
  return {
    title: "Epoch time",
    value,
    unit: median === null ? "" : `${unit} median`,
    note:
      slow === null ? "" : `95%: ${formatDuration(slow)}${commit === null ? "" : `, commit ${formatDuration(commit)}`}`,
    hint: "From the plan of an epoch to its decision",
    points: pointsOf(decided, durationOf),
  };
}

function state({ data }: Model, decided: readonly EpochData[]): Tile {
  const known = decided.filter(({ stateBytes }) => stateBytes !== null);
  const last = known.at(-1)?.stateBytes ?? null;
  const [value, unit] = last === null ? ["–", ""] : split(formatBytes(last));
  const behind = data.decided - data.committed;
  return {
    title: "State",
    value,
    unit,
    note: `epoch ${formatCount(data.decided)}, ${behind === 0 ? "committed" : `${behind} to commit`}`,
    hint: "Bytes of the snapshots that the state would be restored from, before compression",
    points: pointsOf(known, ({ stateBytes }) => stateBytes),
  };
}

const perSecond = (epoch: EpochData, count: number) => (count * 1000) / Math.max(1, durationOf(epoch) ?? 1);

function formatRate(rate: number | null): string {
  if (rate === null) return "–";
  if (rate >= 100_000) return `${formatCount(Math.round(rate / 1000))} k`;
  return rate < 10 && rate > 0 ? rate.toFixed(1) : formatCount(Math.round(rate));
}

/** `1.23 MB` as figure and unit; of `1 min 05 s` the whole is the figure. */
function split(text: string): [string, string] {
  const parts = text.split(" ");
  return parts.length === 2 ? [parts[0]!, parts[1]!] : [text, ""];
}
