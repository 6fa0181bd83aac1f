import { formatDuration, formatInstant } from "../../../format.ts";
import { button, byId, h, s, show } from "./dom.ts";
import { type Model, nowOf } from "./model.ts";
import {
  type Drawn,
  extentOf,
  type Lane,
  layOut,
  newestToShow,
  type Span,
  spanToShow,
  ticksOf,
  visibleBars,
} from "./timeline.ts";

const choices = [
  ["10 s", 10_000],
  ["1 min", 60_000],
  ["10 min", 600_000],
  ["1 h", 3_600_000],
] as const;

const labelWidth = 92;
const axisHeight = 20;
const gap = 4;

const legend = [
  ["start", "plan"],
  ["operate", "tasks"],
  ["decide", "decide"],
  ["commit", "commit"],
  ["waiting", "wait"],
  ["aborted", "aborted, failed"],
] as const;

/** The timeline, which one can move through by mouse and by keys. */
export class TimelineView {
  #model: Model | undefined;
  /** "auto": as much as one can tell apart; "all": everything that is known. */
  #length: number | "auto" | "all" = "auto";
  /** Undefined: the end is now. */
  #end: number | undefined;
  #width = 0;
  #dragFrom: { readonly x: number; readonly end: number } | undefined;
  #selected: number | undefined;
  readonly #select: (epoch: number) => void;
  readonly #view = byId("timeline-view");

  constructor(select: (epoch: number) => void) {
    this.#select = select;
    this.#view.tabIndex = 0;
    this.#view.setAttribute("role", "group");
    this.#view.addEventListener("keydown", (event) => this.#onKey(event));
    this.#view.addEventListener("pointerdown", (event) => {
      this.#dragFrom = { x: event.clientX, end: this.#span().to };
    });
    addEventListener("pointermove", (event) => this.#onDrag(event));
    addEventListener("pointerup", () => (this.#dragFrom = undefined));
    this.#view.addEventListener("click", (event) => {
      const epoch = (event.target as Element).getAttribute("data-epoch");
      if (epoch !== null) this.#select(Number(epoch));
    });
    new ResizeObserver(() => this.#draw()).observe(this.#view);
  }

  update(model: Model, selected: number | undefined): void {
    this.#model = model;
    this.#selected = selected;
    this.#draw();
  }

  /** The server's time goes on between two messages. */
  tick(): void {
    if (this.#end === undefined && this.#model?.data.atWork === true) this.#draw();
  }

  #span(): Span {
    const model = this.#model!;
    const extent = extentOf(model.epochs) ?? { from: nowOf(model) - 60_000, to: nowOf(model) };
    const length = typeof this.#length === "number" ? this.#length : spanToShow(model.epochs);
    const goesOn = model.data.atWork === true && model.data.ended === null;
    const newest = goesOn ? newestToShow(model.epochs, nowOf(model), length) : extent.to;
    if (this.#length === "all") return padded(extent.from, Math.max(newest, extent.to));
    const to = this.#end ?? newest + length * 0.02;
    return { from: to - length, to };
  }

  #move(to: number | undefined): void {
    const model = this.#model;
    if (!model) return;
    const { from: least, to: most } = extentOf(model.epochs) ?? this.#span();
    const { from, to: end } = this.#span();
    if (this.#length === "all") this.#length = Math.max(1000, (end - from) / 2);
    else if (this.#length === "auto") this.#length = end - from;
    const newest = model.data.atWork === true ? nowOf(model) : most;
    this.#end =
      to === undefined || to >= newest + (end - from) * 0.02 ? undefined : Math.max(to, least + (end - from) * 0.1);
    this.#draw();
  }

  #zoom(factor: number): void {
    const { from, to } = this.#span();
    this.#length = Math.min(30 * 86_400_000, Math.max(20, (to - from) * factor));
    if (this.#end !== undefined) this.#end = to - (to - from - this.#length) / 2;
    this.#draw();
  }

  #onKey(event: KeyboardEvent): void {
    const { from, to } = this.#span();
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#move(to - (to - from) / 4),
      ArrowRight: () => this.#move(to + (to - from) / 4),
      Home: () => this.#move(0),
      End: () => this.#move(undefined),
      "+": () => this.#zoom(0.5),
      "=": () => this.#zoom(0.5),
      "-": () => this.#zoom(2),
    };
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]!();
  }

  #onDrag(event: PointerEvent): void {
    if (this.#dragFrom === undefined) return;
    const moved = event.clientX - this.#dragFrom.x;
    if (Math.abs(moved) < 4) return;
    const { from, to } = this.#span();
    this.#move(this.#dragFrom.end - (moved / (this.#width - labelWidth)) * (to - from));
  }

  #draw(): void {
    const model = this.#model;
    this.#width = this.#view.clientWidth;
    if (!model || this.#width === 0) return;
    this.#drawTools();
    showLegend(model);
    if (model.epochs.length === 0) {
      show(this.#view, h("p", { class: "empty" }, "No epoch has been planned yet. The first one appears here."));
      return;
    }
    const span = this.#span();
    const { lanes, bars } = layOut(model.epochs, model.data, nowOf(model));
    const room = Math.max(50, this.#width - labelWidth);
    const drawn = visibleBars(bars, span, room);
    const seen = new Set(drawn.flatMap(({ epoch }) => epoch ?? []));
    const what = seen.size === 0 ? "no epoch" : `epochs ${Math.min(...seen)} to ${Math.max(...seen)}`;
    this.#view.setAttribute(
      "aria-label",
      `${what}, from ${formatInstant(span.from)}, ${formatDuration(span.to - span.from)}. Arrow keys move, plus and minus zoom. The table of epochs has the same as text.`,
    );
    show(this.#view, this.#picture(lanes, drawn, span, room));
  }

  #picture(lanes: readonly Lane[], bars: readonly Drawn[], span: Span, room: number): SVGElement {
    const tops: number[] = [];
    let height = axisHeight;
    for (const lane of lanes) {
      tops.push(height);
      height += lane.height + gap;
    }
    const x = (at: number) => labelWidth + ((at - span.from) / (span.to - span.from)) * room;
    const ticks = ticksOf(span, room)
      .filter(({ at }) => x(at) < this.#width - 36)
      .map(({ at, label }) =>
        s(
          "g",
          { class: "tick" },
          s("line", { x1: x(at), x2: x(at), y1: axisHeight - 4, y2: height }),
          s("text", { x: x(at), y: 11, "text-anchor": "middle" }, label),
        ),
      );
    const rows = lanes.map((lane, index) =>
      s(
        "g",
        {},
        s("rect", { class: "lane", x: labelWidth, y: tops[index], width: room, height: lane.height, rx: 3 }),
        s(
          "text",
          { class: "lane-title", x: labelWidth - 8, y: tops[index]! + lane.height / 2 + 3.5, "text-anchor": "end" },
          lane.title,
        ),
      ),
    );
    const clip = s("clipPath", { id: "lanes" }, s("rect", { x: labelWidth, y: 0, width: room, height }));
    return s(
      "svg",
      { width: this.#width, height, viewBox: `0 0 ${this.#width} ${height}`, "aria-hidden": "true" },
      s("defs", {}, clip, ...hatches()),
      ...rows,
      ...ticks,
      s(
        "g",
        { "clip-path": "url(#lanes)" },
        ...bars.map((bar) => this.#bar(bar, tops[bar.lane]!, lanes[bar.lane]!.height)),
      ),
    );
  }

  #bar(bar: Drawn, top: number, height: number): SVGElement {
    const { x, width, kind, title, epoch, open } = bar;
    const isSelected = epoch !== undefined && epoch === this.#selected;
    const isPoint = bar.to === bar.from && bar.lane > 0;
    const classes = `bar ${kind}${open ? " open" : ""}${isSelected ? " selected" : ""}`;
    const left = labelWidth + x;
    const shape = isPoint
      ? s("path", { d: `M${left} ${top + 1}l5 ${height / 2 - 1}l-5 ${height / 2 - 1}l-5 ${1 - height / 2}z` })
      : s("rect", {
          x: left,
          y: top,
          width: Math.max(1, width > 4 ? width - 0.75 : width),
          height,
          rx: width > 6 ? 2 : 0,
        });
    shape.setAttribute("class", classes);
    if (epoch !== undefined) shape.setAttribute("data-epoch", String(epoch));
    shape.append(s("title", {}, title));
    if (bar.lane > 0 || kind !== "operate" || width < String(epoch).length * 7 + 6) return shape;
    const label = s(
      "text",
      { class: "bar-label", x: left + width / 2, y: top + height / 2 + 4, "text-anchor": "middle" },
      epoch,
    );
    return s("g", {}, shape, label);
  }

  #drawTools(): void {
    const lengths = [["auto", "auto"], ...choices, ["all", "all"]] as const;
    const tools = byId("timeline-tools");
    const pressed = (isPressed: boolean) => ({ "aria-pressed": String(isPressed) });
    show(
      tools,
      ...lengths.map(([label, length]) =>
        button(label, { class: "chip", ...pressed(this.#length === length), title: `show ${label}` }, () => {
          this.#length = length;
          this.#end = undefined;
          this.#draw();
        }),
      ),
      button("◂", { class: "chip", "aria-label": "earlier", title: "earlier (arrow left)" }, () =>
        this.#onButton("ArrowLeft"),
      ),
      button("▸", { class: "chip", "aria-label": "later", title: "later (arrow right)" }, () =>
        this.#onButton("ArrowRight"),
      ),
      button("newest", { class: "chip", ...pressed(this.#end === undefined), title: "follow the newest (End)" }, () =>
        this.#move(undefined),
      ),
    );
  }

  #onButton(key: string): void {
    this.#onKey(new KeyboardEvent("keydown", { key }));
  }
}

/** Stages share three colours in turn; told are those that there are. */
function showLegend({ epochs }: Model): void {
  const stages = new Set(epochs.slice(-50).flatMap((epoch) => epoch.tasks.map(({ stage }) => stage)));
  const ofStages = [...stages]
    .sort((one, other) => one - other)
    .map((stage) => [`stage-${stage % 3}`, `stage ${stage}`] as const);
  const keys = [...legend.slice(0, 3), ...ofStages, ...legend.slice(3)];
  show(
    byId("timeline-legend"),
    ...keys.map(([kind, text]) => h("span", { class: "key" }, h("span", { class: `swatch ${kind}` }), text)),
  );
}

const padded = (from: number, to: number): Span => {
  const length = Math.max(1000, to - from);
  return { from: from - length * 0.01, to: from + length * 1.01 };
};

/** What waits or fails is told by its pattern, too, and not by its colour alone. */
function hatches(): SVGElement[] {
  return ["waiting", "failed"].map((name) =>
    s(
      "pattern",
      { id: `hatch-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { class: `hatch-ground ${name}`, width: 6, height: 6 }),
      s("rect", { class: `hatch-line ${name}`, width: 3, height: 6 }),
    ),
  );
}
