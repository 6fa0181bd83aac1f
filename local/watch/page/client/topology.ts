import { formatCount } from "../../../format.ts";
import type { EpochData, GraphData, GraphEdge } from "../page-data.ts";
import { byId, h, s, show } from "./dom.ts";
import { type Model, rateOf } from "./model.ts";

const nodeWidth = 148;
const nodeHeight = 46;
/** Between two columns, where there is a figure to show, and where there is none. */
const wideGap = 78;
const narrowGap = 30;
const rowGap = 22;
const margin = 10;

interface Placed {
  readonly x: number;
  readonly y: number;
}

/** The topology, left to right, with what went along its edges. */
export function showTopology({ data, epochs }: Model): void {
  const view = byId("topology-view");
  if (data.graph.nodes.length === 0) {
    show(view, h("p", { class: "empty" }, "Not known yet."));
    return;
  }
  const decided = epochs.filter(({ counts }) => counts !== null);
  const [first, last] = [decided[0]?.epoch, decided.at(-1)?.epoch];
  const scope =
    first === undefined ? "nothing is decided yet" : first === last ? `epoch ${first}` : `epochs ${first} to ${last}`;
  const partial = data.graph.partial ? " · stateful operators only: the ledger knows no others" : "";
  show(byId("topology-note"), `${first === undefined ? "" : "records in "}${scope}${partial}`);
  show(view, picture(data.graph, decided));
}

function picture(graph: GraphData, decided: readonly EpochData[]): SVGElement {
  const places = place(graph);
  const width = Math.max(...[...places.values()].map(({ x }) => x)) + nodeWidth + margin;
  const height = Math.max(...[...places.values()].map(({ y }) => y)) + nodeHeight + margin;
  return s(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      class: "graph",
      role: "img",
      "aria-label": describe(graph, decided),
    },
    ...graph.edges.map((edge) => edgeOf(edge, places, decided)),
    ...graph.nodes.map((node) => {
      const { x, y } = places.get(node.id)!;
      return s(
        "g",
        { class: `node ${node.kind}` },
        s("title", {}, [node.id, node.kind, node.detail].filter(Boolean).join(" · ")),
        s("rect", { x, y, width: nodeWidth, height: nodeHeight, rx: 7 }),
        s("text", { class: "node-id", x: x + 12, y: y + 20 }, shorten(node.id, 19)),
        s(
          "text",
          { class: "node-detail", x: x + 12, y: y + 36 },
          shorten(
            [node.kind === "source" || node.kind === "sink" ? "" : node.kind, node.detail].filter(Boolean).join(" · "),
            21,
          ),
        ),
      );
    }),
  );
}

/** A column by the longest way from the source; a long chain of operators goes on in the next row. */
export function place({ nodes, edges }: GraphData): Map<string, Placed> {
  const columns = new Map<string, number>();
  for (const { id } of nodes) {
    const before = edges.filter(({ to }) => to === id).map(({ from }) => columns.get(from) ?? 0);
    columns.set(id, before.length === 0 ? 0 : Math.max(...before) + 1);
  }
  const lefts = leftsOf(columns, edges);
  const rows = new Map<number, number>();
  const places = new Map<string, Placed>();
  // The main way first, so that it is a straight line.
  const isSide = (id: string) => edges.some(({ to, side }) => to === id && side);
  for (const { id } of [...nodes].sort((one, other) => Number(isSide(one.id)) - Number(isSide(other.id)))) {
    const column = columns.get(id)!;
    const parents = edges.filter(({ to }) => to === id).map(({ from }) => rowOf(places.get(from)));
    const row = Math.max(rows.get(column) ?? 0, ...parents, isSide(id) ? 1 : 0);
    rows.set(column, row + 1);
    places.set(id, { x: lefts[column]!, y: margin + row * (nodeHeight + rowGap) });
  }
  return places;
}

function leftsOf(columns: ReadonlyMap<string, number>, edges: GraphData["edges"]): number[] {
  const lefts = [margin];
  for (let column = 1; column <= Math.max(...columns.values()); column++) {
    const isCounted = edges.some(({ to, count }) => columns.get(to) === column && count !== null);
    lefts.push(lefts.at(-1)! + nodeWidth + (isCounted ? wideGap : narrowGap));
  }
  return lefts;
}

const rowOf = (placed: Placed | undefined) => (placed === undefined ? 0 : (placed.y - margin) / (nodeHeight + rowGap));

function edgeOf(edge: GraphEdge, places: ReadonlyMap<string, Placed>, decided: readonly EpochData[]): SVGElement {
  const [from, to] = [places.get(edge.from)!, places.get(edge.to)!];
  const [x1, y1, x2, y2] = [from.x + nodeWidth, from.y + nodeHeight / 2, to.x, to.y + nodeHeight / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  const count = countOf(edge, decided);
  const [labelX, labelY] = y1 === y2 ? [(x1 + x2) / 2, count?.rate == null ? y1 - 6 : y1 - 17] : [x2 - 8, y2 - 7];
  return s(
    "g",
    { class: `edge${edge.side ? " side" : ""}` },
    s("title", {}, `${edge.from} to ${edge.to}: ${count === null ? "not counted" : `${formatCount(count.total)}`}`),
    s("path", {
      d: y1 === y2 ? `M${x1} ${y1}H${x2 - 5}` : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}`,
    }),
    s("path", { class: "arrow", d: `M${x2 - 6} ${y2 - 4}L${x2} ${y2}L${x2 - 6} ${y2 + 4}z` }),
    count && s("text", { x: labelX, y: labelY, "text-anchor": y1 === y2 ? "middle" : "end" }, compact(count.total)),
    count?.rate != null &&
      y1 === y2 &&
      s("text", { class: "rate", x: labelX, y: y1 - 5, "text-anchor": "middle" }, `${compact(count.rate)}/s`),
  );
}

function countOf(
  { count }: GraphEdge,
  decided: readonly EpochData[],
): { readonly total: number; readonly rate: number | null } | null {
  if (count === null) return null;
  const of = ({ counts }: EpochData): number =>
    typeof count === "string" ? counts![count] : (counts!.rows[count.rows] ?? 0);
  return { total: decided.reduce((sum, epoch) => sum + of(epoch), 0), rate: rateOf(decided, of, 30_000) };
}

const figures = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const compact = (value: number) => (value < 10_000 ? formatCount(Math.round(value)) : figures.format(value));
const shorten = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function describe({ nodes, edges }: GraphData, decided: readonly EpochData[]): string {
  const ways = edges.map((edge) => {
    const count = countOf(edge, decided);
    return `${edge.from} to ${edge.to}${count ? `, ${formatCount(count.total)}` : ""}`;
  });
  return `${nodes.length} nodes. ${ways.join("; ")}`;
}
