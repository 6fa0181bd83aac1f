import { formatDuration } from "./durations.ts";
import { Parameter } from "./parameter.ts";
import { pointerOf } from "./pointer.ts";
import { Secret } from "./secret.ts";
import type { TextSplit } from "./text-split.ts";
import type {
  AggregateNode,
  Node,
  SelectNode,
  SinkDescription,
  SourceDescription,
  Stage,
  Topology,
  WindowNode,
} from "./topology.ts";

/** The topology as text for people: what runs in which stage, with ids, windows, sinks and parameters. */
export function explain(topology: Topology): string {
  const stageOf = stagesOfNodes(topology.stages, topology.nodes);
  const blocks = [
    [`Pipeline ${topology.name}`, ...columns(settingsOf(topology))],
    ...topology.stages.map((stage) => [titleOf(stage), ...columns(rowsOf(stage, topology, stageOf))]),
    parametersOf(topology),
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

type Row = readonly string[];

/** Cells of a column under each other; the last one is as long as it likes. */
function columns(rows: readonly Row[]): string[] {
  const widths = rows[0]!.slice(0, -1).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`);
}

function settingsOf({ guarantee, onError, keyGroups }: Topology): Row[] {
  return [
    ["guarantee", guarantee],
    ["on error", onError.action === "deadLetter" ? `dead letter, to ${onError.sink}` : onError.action],
    ["key groups", String(keyGroups)],
  ];
}

function titleOf({ index, shuffles }: Stage): string {
  return shuffles.length === 0
    ? `Stage ${index}`
    : `Stage ${index}, which pre-aggregates and shuffles for ${shuffles.join(", ")}`;
}

function rowsOf(stage: Stage, topology: Topology, stageOf: ReadonlyMap<string, number>): Row[] {
  const nodes = topology.nodes.filter((node) => stageOf.get(node.id) === stage.index);
  const outputs = new Set(topology.nodes.map((node) => node.id));
  const sideSinks = stage.sinks.filter((id) => !outputs.has(id));
  return [
    ...nodes.map((node) => [node.id, node.kind === "source" ? "" : `← ${node.input}`, describeNode(node, topology)]),
    ...sideSinks.map((id) => sideSinkRow(id, topology)),
  ];
}

function sideSinkRow(id: string, { nodes, sinks }: Topology): Row {
  const window = nodes.find((node) => node.kind === "window" && node.late === id);
  const [from, what] = window === undefined ? ["all", "records that fail"] : [window.id, "late records"];
  return [id, `← ${from}`, `${what}, to a ${describeSink(sinks[id]!)}`];
}

function describeNode(node: Node, { sinks }: Topology): string {
  if (node.kind === "source") return describeSource(node.source);
  if (node.kind === "sink") return describeSink(sinks[node.id]!);
  if (node.kind === "aggregate") return describeAggregate(node);
  if (node.kind === "window") return describeWindow(node);
  if (node.kind === "select") return `select ${describeFields(node)}`;
  if (node.kind === "flatMap" && node.split) return describeSplit(node.split);
  const pointer = describePointer(node.apply);
  return pointer === undefined || pointer === '""' ? node.kind : `${node.kind} ${pointer}`;
}

function describeFields({ fields }: SelectNode): string {
  return Object.entries(fields)
    .map(([name, pointer]) => `${name} = ${JSON.stringify(pointer)}`)
    .join(", ");
}

/** Undefined for a function of the user's. */
function describePointer(select: unknown): string | undefined {
  const pointer = pointerOf(select);
  if (pointer === undefined) return undefined;
  return typeof pointer === "string" ? JSON.stringify(pointer) : describeOption(pointer);
}

function describeSplit({ separator }: TextSplit): string {
  return separator === undefined ? "words" : `split at ${JSON.stringify(separator)}`;
}

function describeSource({ kind, options, value, timestamp, outOfOrderMs, idleAfterMs }: SourceDescription): string {
  return [
    `${kind} source ${describeOptions(options)} of ${value.name}`,
    timestamp === undefined ? "the source's own time" : `time from ${describePointer(timestamp) ?? "the value"}`,
    `out of order by ${formatDuration(outOfOrderMs)}`,
    `idle after ${formatDuration(idleAfterMs)}`,
  ].join(", ");
}

function describeSink({ kind, options }: SinkDescription): string {
  return `${kind} sink ${describeOptions(options)}`;
}

function describeWindow({ window, allowedLatenessMs, aggregates }: WindowNode): string {
  const interval = window.kind === "sliding" ? ` every ${formatDuration(window.everyMs)}` : "";
  const offset = window.offsetMs === undefined ? "" : ` offset by ${formatDuration(window.offsetMs)}`;
  const lateness = `allowed lateness ${formatDuration(allowedLatenessMs)}`;
  return `${window.kind} windows of ${formatDuration(window.sizeMs)}${interval}${offset}, ${lateness}: ${columnsOf(aggregates)}`;
}

function describeAggregate({ expireAfterMs, aggregates }: AggregateNode): string {
  const lifetime =
    expireAfterMs === undefined ? "for ever" : `until no record came for ${formatDuration(expireAfterMs)}`;
  return `running aggregation, ${lifetime}: ${columnsOf(aggregates)}`;
}

function columnsOf(aggregates: WindowNode["aggregates"]): string {
  const columns = Object.entries(aggregates).map(
    ([column, { name, add }]) => `${column} = ${name}(${describePointer(add) ?? ""})`,
  );
  return columns.join(", ");
}

function describeOptions(options: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const entries = given.map(([name, value]) => `${name}: ${describeOption(value)}`);
  return `{ ${entries.join(", ")} }`;
}

function describeOption(value: unknown): string {
  if (value instanceof Parameter) return `parameter("${value.name}")`;
  if (value instanceof Secret || value instanceof RegExp) return String(value);
  if (typeof value === "function") return describePointer(value) ?? "a function";
  if (Array.isArray(value)) return `[${value.map(describeOption).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  // Encoders and decoders have names.
  return "name" in value && "encode" in value ? String(value.name) : describeOptions(value as Record<string, unknown>);
}

function parametersOf({ parameters }: Topology): string[] {
  if (parameters.length === 0) return ["No parameters"];
  const rows = parameters.map(
    ({ name, defaultValue }): Row => [
      name,
      defaultValue === undefined ? "must be given" : `default ${JSON.stringify(defaultValue)}`,
    ],
  );
  return ["Parameters", ...columns(rows)];
}

/** A node without state runs where its input does. */
function stagesOfNodes(stages: readonly Stage[], nodes: readonly Node[]): Map<string, number> {
  const stageOf = new Map(stages.flatMap(({ index, operators }) => operators.map((id) => [id, index] as const)));
  for (const node of nodes) {
    if (!stageOf.has(node.id)) stageOf.set(node.id, node.kind === "source" ? 0 : stageOf.get(node.input)!);
  }
  return stageOf;
}
