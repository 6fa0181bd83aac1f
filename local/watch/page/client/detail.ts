import { formatBytes, formatCount, formatCounted, formatDuration, formatInstant } from "../../../format.ts";
import type { EpochDetail } from "../page-data.ts";
import { button, byId, h, show } from "./dom.ts";
import { statusTag } from "./epochs.ts";
import { errorBlock } from "./header.ts";

const mostRows = 64;

/** One epoch: its tasks, what it read and wrote, what went wrong. */
export function showDetail(detail: EpochDetail, close: () => void): void {
  byId("detail").hidden = false;
  byId("detail-title").textContent = `Epoch ${formatCount(detail.epoch)}`;
  show(byId("detail-tools"), statusTag(detail), button("close", { class: "chip" }, close));
  show(
    byId("detail-view"),
    ...facts(detail),
    detail.error && errorBlock(detail.error),
    phases(detail),
    tasks(detail),
    ranges(detail),
    rows(detail),
  );
}

export function hideDetail(): void {
  byId("detail").hidden = true;
}

function facts({ plannedAt, decidedAt, committedAt, counts, watermark, stateBytes, left }: EpochDetail): HTMLElement[] {
  const list: [string, string][] = [["planned", precise(plannedAt)]];
  if (decidedAt !== null) list.push(["decided", precise(decidedAt)]);
  if (committedAt !== null) list.push(["committed", precise(committedAt)]);
  if (counts !== null) list.push(["read", `${formatCounted(counts.records, "record")}, ${formatBytes(counts.bytes)}`]);
  if (watermark !== null) list.push(["watermark", formatInstant(watermark)]);
  if (stateBytes !== null) list.push(["state", formatBytes(stateBytes)]);
  if (left > 0) list.push(["left behind", formatCount(left)]);
  return [
    h("dl", { class: "facts-list" }, ...list.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  ];
}

/** To the millisecond: epochs are short. */
const precise = (at: number) => `${new Date(at).toISOString().replace("T", " ").slice(0, -1)}Z`;

function phases({ phases }: EpochDetail): HTMLElement | null {
  if (phases.length === 0) return null;
  return table(
    "Phases",
    ["phase", "took"],
    phases.map(({ phase, from, to }) => [
      h("span", {}, h("span", { class: `swatch ${phase}` }), ` ${phase}`),
      to === null ? "…" : formatDuration(to - from),
    ]),
  );
}

function tasks({ tasks, plannedAt }: EpochDetail): HTMLElement | null {
  if (tasks.length === 0) return null;
  return table(
    "Tasks",
    ["stage", "task", "began", "took", "records"],
    tasks.map(({ stage, task, from, to, records }) => [
      String(stage),
      String(task),
      `+${formatDuration(Math.max(0, from - plannedAt))}`,
      formatDuration(to - from),
      formatCount(records),
    ]),
  );
}

function ranges({ ranges }: EpochDetail): HTMLElement | null {
  if (ranges.length === 0) return null;
  return table(
    "Ranges",
    ["partition", "from", "to"],
    ranges.map(({ id, from, to }) => [id, formatCount(from), formatCount(to)]),
  );
}

function rows({ counts, units }: EpochDetail): HTMLElement | null {
  const written = Object.entries(counts?.rows ?? {});
  if (written.length === 0) return null;
  const unitsOf = (sink: string) => {
    const all = units.filter((unit) => unit.sink === sink);
    if (all.length === 0) return "";
    const byStatus = Map.groupBy(all, ({ status }) => status);
    return [...byStatus].map(([status, some]) => `${some.length} ${status}`).join(", ");
  };
  return table(
    "Output",
    ["sink", "rows", "units"],
    written.map(([sink, count]) => [sink, formatCount(count), unitsOf(sink)]),
  );
}

function table(title: string, head: readonly string[], all: readonly (readonly (Node | string)[])[]): HTMLElement {
  const shown = all.slice(0, mostRows);
  const more = all.length - shown.length;
  return h(
    "div",
    { class: "detail-table" },
    h(
      "table",
      {},
      h("caption", {}, title),
      h(
        "thead",
        {},
        h("tr", {}, ...head.map((name, index) => h("th", { scope: "col", class: index === 0 ? "" : "number" }, name))),
      ),
      h(
        "tbody",
        {},
        ...shown.map((cells) =>
          h("tr", {}, ...cells.map((cell, index) => h("td", { class: index === 0 ? "name" : "number" }, cell))),
        ),
      ),
    ),
    more > 0 && h("p", { class: "note" }, `and ${formatCount(more)} more: epochflow epochs --json`),
  );
}
