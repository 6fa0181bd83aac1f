import { formatCount, formatDuration, formatInstant, formatOffsets } from "../../../format.ts";
import type { PageData, PartitionData } from "../page-data.ts";
import { byId, h, s, show } from "./dom.ts";
import { time } from "./header.ts";
import { type Model, nowOf } from "./model.ts";

const meterWidth = 56;

const lagOf = ({ high, position }: PartitionData) => Math.max(0, high - position);

/** What is furthest behind comes first; then by name. */
export function showPartitions(model: Model): void {
  const { data } = model;
  const { partitions, endsAsOf } = data;
  const note =
    endsAsOf === null
      ? ""
      : h("span", {}, `${formatCount(partitions.length)}, ends seen `, time(endsAsOf, nowOf(model)));
  show(byId("partitions-note"), note);
  const view = byId("partitions-view");
  if (partitions.length === 0) {
    show(view, h("p", { class: "empty" }, "No plan has looked at the source yet, or none since a restore."));
    return;
  }
  const ordered = [...partitions].sort((one, other) => lagOf(other) - lagOf(one));
  const most = Math.max(1, ...partitions.map(lagOf));
  const isKnown = partitions.some(({ watermark }) => watermark !== null);
  const head = ["partition", "position", "end", "lag", isKnown ? "watermark" : "latest event"];
  show(
    view,
    h(
      "table",
      {},
      h("caption", { class: "unseen" }, "Lag and watermark of each partition of the source"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...head.map((title, index) => h("th", { scope: "col", class: index === 0 ? "" : "number" }, title)),
        ),
      ),
      h("tbody", {}, ...ordered.map((partition) => rowOf(partition, data, most, nowOf(model)))),
    ),
  );
}

function rowOf(partition: PartitionData, { offsets }: PageData, most: number, now: number): HTMLElement {
  const { id, position, end, high, idle, watermark, maxEventTime } = partition;
  const lag = lagOf(partition);
  const at = watermark ?? maxEventTime;
  const open = high > end ? `; readable up to ${formatCount(end)}: above it are transactions that are not over` : "";
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row", class: "name", title: id },
      id,
      idle && " ",
      idle && h("span", { class: "tag", title: "at its end: it does not hold the watermark back" }, "idle"),
    ),
    h("td", { class: "number" }, formatCount(position)),
    h("td", { class: "number", title: `written up to ${formatCount(high)}${open}` }, formatCount(high)),
    h(
      "td",
      { class: "number lag" },
      meter(lag / most),
      h("span", { title: `${formatCount(lag)} ${offsets}` }, formatOffsets(lag, offsets)),
    ),
    h("td", { class: "number", title: at === null ? "" : `${formatInstant(at)}` }, at === null ? "–" : behind(at, now)),
  );
}

function behind(at: number, now: number): string {
  return at > now ? `${formatDuration(at - now)} ahead` : `${formatDuration(now - at)} behind`;
}

/** A bar beside the figure. */
function meter(share: number): SVGElement {
  const width = share === 0 ? 0 : Math.max(1, Math.round(share * meterWidth));
  return s(
    "svg",
    { class: "meter", width: meterWidth, height: 6, "aria-hidden": "true" },
    s("rect", { class: "ground", width: meterWidth, height: 6, rx: 3 }),
    s("rect", { class: "level", width, height: 6, rx: Math.min(3, width / 2) }),
  );
}
