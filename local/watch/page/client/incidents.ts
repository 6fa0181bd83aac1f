import type { Incident } from "../page-data.ts";
import { byId, h, show } from "./dom.ts";
import { errorBlock, time } from "./header.ts";
import { type Model, nowOf } from "./model.ts";

const most = 30;

/** What went wrong, the newest first. Waits are in the timeline. */
export function showIncidents(model: Model): void {
  const told = model.data.incidents.filter(({ kind }) => kind !== "waiting").reverse();
  show(byId("incidents-note"), told.length > most ? `the last ${most} of ${told.length}` : "since this page is served");
  const list = told.slice(0, most).map((incident) => item(incident, nowOf(model)));
  show(
    byId("incidents-view"),
    list.length === 0 ? h("p", { class: "empty" }, "None.") : h("ol", { class: "incidents" }, ...list),
  );
}

function item({ kind, what, to, error }: Incident, now: number): HTMLElement {
  return h(
    "li",
    { class: kind },
    h("p", {}, h("strong", {}, what), " ", h("span", { class: "note" }, time(to, now))),
    error && errorBlock(error),
  );
}
