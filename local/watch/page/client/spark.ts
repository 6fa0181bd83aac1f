import { s } from "./dom.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

const width = 200;
const height = 36;

/** A small chart of values in the order of time: an area and its line, from zero up to the largest. It is decoration: the figure beside it says the value. */
export function spark(points: readonly Point[]): SVGElement {
  const box = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    class: "spark",
    "aria-hidden": "true",
  });
  if (points.length < 2) return box;
  const [first, last] = [points[0]!.x, points.at(-1)!.x];
  const most = Math.max(...points.map(({ y }) => y), 1e-9);
  const x = (value: number) => round(last === first ? 0 : ((value - first) / (last - first)) * width);
  const y = (value: number) => round(height - 2 - (Math.max(0, value) / most) * (height - 4));
  const line = thin(points)
    .map((point) => `${x(point.x)} ${y(point.y)}`)
    .join("L");
  box.append(
    s("path", { class: "area", d: `M0 ${height}L${line}L${width} ${height}Z` }),
    s("path", { class: "line", d: `M${line}`, "vector-effect": "non-scaling-stroke" }),
  );
  return box;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** More points than there are pixels: of neighbours the largest stays, since peaks are what one looks for. */
function thin(points: readonly Point[]): readonly Point[] {
  const step = Math.ceil(points.length / width);
  if (step === 1) return points;
  return Array.from({ length: Math.ceil(points.length / step) }, (_, index) =>
    points.slice(index * step, (index + 1) * step).reduce((most, point) => (point.y > most.y ? point : most)),
  );
}
