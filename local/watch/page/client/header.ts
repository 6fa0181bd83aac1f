import type { ErrorDescription } from "../../../../shared/errors.ts";
import { formatCounted, formatDuration, formatInstant } from "../../../format.ts";
import type { PageData } from "../page-data.ts";
import { byId, h, prose, show } from "./dom.ts";
import { type Model, nowOf } from "./model.ts";

export type Connection = "connecting" | "live" | "lost";

/** A time as people say it, with the time itself for whoever points at it. */
export function time(at: number | null, now: number): HTMLElement | string {
  if (at === null) return "–";
  const text = at <= now ? `${formatDuration(now - at)} ago` : `in ${formatDuration(at - now)}`;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return `${at} ms`;
  return h(
    "time",
    { datetime: date.toISOString(), title: `${formatInstant(at)} (here ${date.toLocaleString()})` },
    text,
  );
}

interface Badge {
  readonly tone: "good" | "busy" | "warn" | "bad" | "rest";
  readonly label: string;
}

/** What one wants to know first. */
export function badgeOf({ status, uncommitted, atWork, error, ended, worker }: PageData): Badge {
  if (status === "stopped") return { tone: "bad", label: error?.kind === "loss" ? "stopped by a loss" : "stopped" };
  if (status === "paused") return { tone: "warn", label: "paused" };
  if (uncommitted?.error) return { tone: "bad", label: "commits fail" };
  if (ended !== null) return { tone: ended === "failed" ? "bad" : "rest", label: ended.replace("-", " ") };
  if (atWork === null) return { tone: "rest", label: "running" };
  return atWork
    ? { tone: "busy", label: "at work" }
    : { tone: "rest", label: worker === "process" ? "no run" : "idle" };
}

export function showHeader({ data, skewMs }: Model, connection: Connection): void {
  const { tone, label } = badgeOf(data);
  const places = Object.entries(data.places).map(([name, place]) =>
    h(
      "span",
      { class: "fact", title: `${name}: ${place}` },
      h("span", { class: "fact-name" }, `${words(name)} `),
      shorten(place),
    ),
  );
  const link = { connecting: "connecting", live: "live", lost: "not connected" }[connection];
  document.title = `${data.pipeline || "epochflow"} · ${label}`;
  show(
    byId("header"),
    h("img", { src: "/icon.svg", alt: "", width: 24, height: 24 }),
    h("h1", {}, data.pipeline || "epochflow"),
    h("span", { class: `badge ${tone}`, role: "status" }, label),
    h(
      "div",
      { class: "facts" },
      ...places,
      data.uid &&
        h(
          "span",
          { class: "fact", title: `uid of the ledger: ${data.uid}` },
          h("span", { class: "fact-name" }, "ledger "),
          data.uid.slice(0, 8),
        ),
    ),
    h(
      "div",
      { class: `link ${connection}`, title: `as of ${formatInstant(data.now)}` },
      h("span", { class: "dot", "aria-hidden": "true" }),
      link,
      connection === "live" ? "" : h("span", {}, " · as of ", time(data.now, Date.now() + skewMs)),
    ),
  );
}

/** The name of a place is that of a property. */
const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const shorten = (place: string) => (place.length > 48 ? `…${place.slice(-47)}` : place);

/** The one form of errors: what, where, and the way out. */
export function errorBlock({ code, message, place, wayOut }: ErrorDescription): HTMLElement {
  const { pipeline: _, ...rest } = place ?? {};
  const where = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return h(
    "div",
    { class: "error" },
    h("p", { class: "error-message" }, message, " ", h("span", { class: "tag" }, code)),
    where.length > 0 && h("p", {}, h("span", { class: "fact-name" }, "where "), where.join(", ")),
    wayOut !== undefined && h("p", {}, h("span", { class: "fact-name" }, "way out "), prose(wayOut)),
  );
}

/** What needs somebody's attention, above all else. */
export function showNotices(model: Model, connection: Connection): void {
  const { data } = model;
  const now = nowOf(model);
  const next = model.epochs.at(-1);
  const notices: HTMLElement[] = [];
  const add = (tone: "bad" | "warn" | "info", title: (Node | string)[], error: ErrorDescription | null) =>
    notices.push(h("section", { class: `notice ${tone}` }, h("h2", {}, ...title), error && errorBlock(error)));
  if (data.ended !== null)
    add("info", [`The run is over: ${data.ended.replace("-", " ")}. This is how it ended.`], null);
  else if (connection === "lost")
    add("info", ["The server of this page cannot be reached. This is what it said last."], null);
  if (data.problem !== null) add("warn", [`The ledger cannot be read: ${data.problem}`], null);
  if (data.status === "stopped") add("bad", ["Stopped. What was committed stays."], data.error);
  if (data.status === "paused") add("warn", [prose("Paused. `epochflow resume` lets it go on.")], null);
  if (data.lost !== null) {
    const { epochs, shares, rows } = data.lost;
    const what = [formatCounted(shares, "task of input", "tasks of input"), `perhaps ${formatCounted(rows, "row")}`];
    add("warn", [`Lost so far, as at-most-once may: ${what.join(", ")}, in ${formatCounted(epochs, "epoch")}.`], null);
  }
  if (data.uncommitted?.failure) {
    const { failure, epoch, error } = data.uncommitted;
    const times = failure.count === 1 ? "once" : `${failure.count} times`;
    add(
      "bad",
      [
        `The output of epoch ${epoch} is decided, and not visible: its commit at sink ${failure.sink} has failed ${times}, the last `,
        time(failure.at, now),
      ],
      error,
    );
  }
  if (next && data.status === "running" && next.error && next.decidedAt === null)
    add(
      "warn",
      [
        `Epoch ${next.epoch} has failed ${next.failures === 1 ? "once" : `${next.failures} times`}, and is tried again.`,
      ],
      next.error,
    );
  show(byId("notices"), ...notices);
}
