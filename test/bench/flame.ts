import { type Phase, phaseOf, phases } from "./phases.ts";
import { callsOf, type Profile, type ProfileNode } from "./profile.ts";

/**
 * CPU time as a flame graph (https://www.brendangregg.com/flamegraphs.html): a box is a function, as wide as the time of it and all that it called, which
 * lies on it. Its colour is its phase. It is a picture without scripts, so that it shows wherever pictures do, and one of all JavaScript threads together.
 */
export function flameGraph(profiles: readonly Profile[], title: string): string {
  const root = frameOf("all", "start and other");
  for (const { node, callers, microseconds } of profiles.flatMap(callsOf)) {
    root.microseconds += microseconds;
    let frame = root;
    for (const [depth, one] of [...callers, node].entries()) {
      if (isGlue(one)) continue;
      frame = below(frame, one, phaseOf({ node: one, callers: callers.slice(0, depth) }));
      frame.microseconds += microseconds;
    }
  }
  return draw(root, title);
}

interface Frame {
  readonly label: string;
  readonly phase: Phase;
  microseconds: number;
  readonly below: Map<string, Frame>;
}

const frameOf = (label: string, phase: Phase): Frame => ({ label, phase, microseconds: 0, below: new Map() });

/** Node's own functions, and V8's, between ours only make the picture higher. */
function isGlue({ callFrame: { functionName, url } }: ProfileNode): boolean {
  return !url.startsWith("file:") && functionName !== "(garbage collector)";
}

function below(frame: Frame, { callFrame }: ProfileNode, phase: Phase): Frame {
  const label = labelOf(callFrame);
  const key = `${label} ${phase}`;
  const found = frame.below.get(key) ?? frameOf(label, phase);
  frame.below.set(key, found);
  return found;
}

/** `processSlice source-stage`. */
function labelOf({ functionName, url }: ProfileNode["callFrame"]): string {
  const file = /([^/]+)\.[a-z]+$/.exec(url)?.[1];
  return file === undefined ? functionName : `${functionName || "(anonymous)"} ${file}`;
}

const width = 1200;
const rowHeight = 17;
const fontSize = 11;
/** Of the letters of the font below. */
const letterWidth = 6.3;
/** Narrower boxes are left out: nobody sees them. */
const narrowest = 1.5;

const colours: Readonly<Record<Phase, string>> = {
  "fetch and decode": "#8fc1e3",
  "operators and fold": "#f4a259",
  shuffle: "#f7d488",
  "merge and fire": "#a8d08d",
  "encode and stage": "#c3a6d8",
  commit: "#e6a4b4",
  snapshot: "#7fc8b8",
  protocol: "#d9c3a5",
  "garbage collection": "#c9c9c9",
  "start and other": "#e6e6e6",
};

function draw(root: Frame, title: string): string {
  const boxes: string[] = [];
  const scale = width / root.microseconds;
  const top = 50;
  let rows = 0;
  const place = (frame: Frame, x: number, depth: number): void => {
    rows = Math.max(rows, depth + 1);
    boxes.push(
      box(frame, x, top + depth * rowHeight, frame.microseconds * scale, frame.microseconds / root.microseconds),
    );
    const visible = [...frame.below.values()].sort(
      (one, other) => order(one) - order(other) || other.microseconds - one.microseconds,
    );
    let left = x;
    for (const one of visible) {
      if (one.microseconds * scale >= narrowest) {
        place(one, left, depth + 1);
        left += one.microseconds * scale;
      }
    }
  };
  place(root, 0, 0);
  const height = top + rows * rowHeight + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="${fontSize}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="4" y="16" font-size="13">${escaped(title)}</text>
${legend()}
${boxes.join("\n")}
</svg>
`;
}

const order = ({ phase }: Frame): number => phases.indexOf(phase);

function box({ label, phase }: Frame, x: number, y: number, wide: number, share: number): string {
  const text = wide > 30 ? `${label} ${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%` : "";
  const shown = text.length * letterWidth > wide ? label.slice(0, Math.floor(wide / letterWidth) - 1) : text;
  const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(wide - 0.5, 0.5).toFixed(1)}" height="${rowHeight - 1}" fill="${colours[phase]}"/>`;
  return shown.length < 3 ? rect : `${rect}<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(shown)}</text>`;
}

function legend(): string {
  let x = 4;
  return phases
    .map((phase) => {
      const at = x;
      x += phase.length * letterWidth + 24;
      return `<rect x="${at}" y="25" width="11" height="11" fill="${colours[phase]}"/><text x="${at + 15}" y="35">${phase}</text>`;
    })
    .join("\n");
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
