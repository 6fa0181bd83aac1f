import { formatDuration } from "../../../shared/pipeline/durations.ts";
import type { Fingerprint } from "../../../shared/pipeline/fingerprint.ts";
import type { Node, Topology } from "../../../shared/pipeline/topology.ts";
import type { GraphData, GraphEdge, GraphNode } from "./page-data.ts";

/** The pipeline as a picture: nodes in the order of definition, and what goes along its edges. */
export function graphOf(topology: Topology): GraphData {
  const { nodes, sinks, onError } = topology;
  const sources = new Set(nodes.filter((node) => node.kind === "source").map(({ id }) => id));
  const edges: GraphEdge[] = [];
  const shown: GraphNode[] = nodes.map((node) => ({ id: node.id, kind: node.kind, detail: detailOf(node, topology) }));
  const side = (id: string, from: string, what: string, count: GraphEdge["count"]) => {
    if (!shown.some((node) => node.id === id)) shown.push({ id, kind: "sink", detail: `${what}, ${sinks[id]?.kind}` });
    edges.push({ from, to: id, count, side: true });
  };
  for (const node of nodes) {
    if ("input" in node) {
      const count = node.kind === "sink" ? { rows: node.id } : sources.has(node.input) ? "records" : null;
      edges.push({ from: node.input, to: node.id, count, side: false });
    }
    const late: unknown = "late" in node ? node.late : undefined;
    if (typeof late === "string") side(late, node.id, "late records", { rows: late });
  }
  if (onError.action === "deadLetter") side(onError.sink, nodes[0]!.id, "dead letters", { rows: onError.sink });
  return { nodes: shown, edges, partial: false };
}

/** As much of it as the ledger knows. */
export function graphOfFingerprint({ sources, operators, sinks }: Fingerprint): GraphData {
  const byStage = Object.entries(operators).sort(([, one], [, other]) => one.stage - other.stage);
  const way = [...Object.keys(sources), ...byStage.map(([id]) => id)];
  const last = way.at(-1)!;
  return {
    nodes: [
      ...Object.entries(sources).map(([id, kind]) => ({ id, kind: "source", detail: kindOf(kind) })),
      ...byStage.map(([id, { kind }]) => ({ id, kind, detail: "" })),
      ...Object.entries(sinks).map(([id, kind]) => ({ id, kind: "sink", detail: kindOf(kind) })),
    ],
    edges: [
      ...way
        .slice(1)
        .map((to, index): GraphEdge => ({ from: way[index]!, to, count: index === 0 ? "records" : null, side: false })),
      ...Object.keys(sinks).map((to): GraphEdge => ({ from: last, to, count: { rows: to }, side: false })),
    ],
    partial: true,
  };
}

/** Beside its kind a sink's fingerprint has what is permanent about it. */
const kindOf = (fingerprint: string) => fingerprint.split(/[ ,]/, 1)[0]!;

function detailOf(node: Node, { sinks }: Topology): string {
  if (node.kind === "source") return placeOf(node.source);
  if (node.kind === "sink") return placeOf(sinks[node.id]!);
  if (!("window" in node)) return "";
  const { kind, sizeMs, everyMs } = node.window;
  return kind === "sliding" ? `${formatDuration(sizeMs)} every ${formatDuration(everyMs)}` : formatDuration(sizeMs);
}

/** Options may hold secrets: only what tells where it is goes to the page. */
function placeOf({ kind, options }: { readonly kind: string; readonly options: Readonly<Record<string, unknown>> }) {
  const { topic, topics, path } = options;
  const texts = [topic, Array.isArray(topics) ? topics.join(", ") : undefined, path].filter(
    (one) => typeof one === "string",
  );
  return texts.length === 0 ? kind : `${kind} ${texts[0]}`;
}
