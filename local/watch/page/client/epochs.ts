import { formatCount, formatDuration } from "../../../format.ts";
import type { EpochData } from "../page-data.ts";
import { button, byId, h, s, show } from "./dom.ts";
import { time } from "./header.ts";
import { durationOf, type Model, nowOf, percentile, rowsOf } from "./model.ts";

export interface EpochsState {
  /** Rows to show. */
  readonly shown: number;
  readonly selected: number | undefined;
  /** There are none before the first one. */
  readonly isComplete: boolean;
}

const barWidth = 110;
const barHeight = 12;

/** The epochs as a table, the newest first. */
export function showEpochs(model: Model, state: EpochsState, more: () => void): void {
  const { epochs } = model;
  const rows = epochs.slice(-state.shown).reverse();
  const view = byId("epochs-view");
  const first = epochs[0]?.epoch;
  const known = first === undefined ? "" : `${formatCount(epochs.length)} loaded, from ${formatCount(first)} on`;
  show(byId("epochs-note"), known);
  if (rows.length === 0) {
    show(byId("epochs-more"));
    show(view, h("p", { class: "empty" }, "None yet."));
    return;
  }
  const totals = rows.map((epoch) => totalOf(epoch, nowOf(model)));
  // One that took very long leaves the others their shape: its bar ends at the edge.
  const longest = Math.min(Math.max(...totals), 3 * percentile(totals, 50)!);
  const extra = optionalColumns.filter(([, count]) => rows.some((epoch) => count(epoch) > 0));
  show(
    view,
    h(
      "table",
      { class: "epochs" },
      h("caption", { class: "unseen" }, "Epochs, the newest first. Choose one for its tasks and ranges."),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...["epoch", "status"].map((title) => h("th", { scope: "col" }, title)),
          ...["records", "rows", ...extra.map(([title]) => title), "took"].map((title) =>
            h("th", { scope: "col", class: "number" }, title),
          ),
          h("th", { scope: "col" }, "phases"),
          h("th", { scope: "col", class: "number" }, "decided"),
        ),
      ),
      h("tbody", {}, ...rows.map((epoch) => rowOf(epoch, state.selected, longest, nowOf(model), extra))),
    ),
  );
  const hasMore = epochs.length > state.shown || (!state.isComplete && first !== undefined && first > 1);
  show(byId("epochs-more"), hasMore && button("Show older epochs", { class: "more" }, more));
}

type Column = readonly [title: string, count: (epoch: EpochData) => number];
const optionalColumns: readonly Column[] = [
  ["late", ({ counts }) => counts?.late ?? 0],
  ["dead", ({ counts }) => counts?.deadLettered ?? 0],
  ["skipped", ({ counts }) => counts?.skipped ?? 0],
];

function rowOf(
  epoch: EpochData,
  selected: number | undefined,
  longest: number,
  now: number,
  extra: readonly Column[],
): HTMLElement {
  const { counts, decidedAt } = epoch;
  const took = durationOf(epoch);
  const number = (value: number | null | undefined) =>
    h("td", { class: "number" }, value === null || value === undefined ? "" : formatCount(value));
  return h(
    "tr",
    { class: epoch.epoch === selected ? "selected" : "", "data-epoch": epoch.epoch },
    h(
      "th",
      { scope: "row" },
      h(
        "button",
        {
          type: "button",
          class: "row-button",
          "data-epoch": epoch.epoch,
          "aria-expanded": String(epoch.epoch === selected),
          "aria-controls": "detail",
        },
        formatCount(epoch.epoch),
      ),
    ),
    h("td", {}, statusTag(epoch)),
    number(counts?.records),
    number(counts && rowsOf(epoch)),
    ...extra.map(([, count]) => number(counts && count(epoch))),
    h("td", { class: "number" }, took === null ? "" : formatDuration(took)),
    h("td", {}, phaseBar(epoch, longest, now)),
    h("td", { class: "number ago" }, time(decidedAt, now)),
  );
}

export function statusTag({ status, attempt, failures }: EpochData): HTMLElement {
  const again = attempt > 1 ? `attempt ${attempt}` : "";
  return h(
    "span",
    { class: `status ${status}` },
    status,
    again && " ",
    again && h("span", { class: "tag", title: failures > 0 ? `${failures} failed in a row` : "" }, again),
  );
}

/** From the plan to the commit, as far as it has come. */
function totalOf({ phases, plannedAt }: EpochData, now: number): number {
  return Math.max(1, ...phases.map(({ from, to }) => (to ?? Math.max(from, Math.min(now, from + 60_000))) - plannedAt));
}

function phaseBar(epoch: EpochData, longest: number, now: number): SVGElement {
  const { phases, plannedAt, status } = epoch;
  const scale = barWidth / longest;
  const end = (from: number, to: number | null) =>
    to ?? (status === "aborted" ? from : Math.max(from, Math.min(now, from + 60_000)));
  const texts = phases.map(({ phase, from, to }) => `${phase} ${to === null ? "…" : formatDuration(to - from)}`);
  return s(
    "svg",
    { width: barWidth, height: barHeight, role: "img", "aria-label": texts.join(", ") },
    s("title", {}, texts.join(", ")),
    ...phases.map(({ phase, from, to }) =>
      s("rect", {
        class: `bar ${status === "aborted" ? "aborted" : phase}`,
        x: Math.round((from - plannedAt) * scale * 10) / 10,
        y: 1,
        width: Math.max(from === end(from, to) ? 0 : 1, Math.round((end(from, to) - from) * scale * 10) / 10),
        height: barHeight - 2,
        rx: 1.5,
      }),
    ),
  );
}
