import { UsageError } from "../errors.ts";
import { collectParameters } from "./bind.ts";
import { type Definition, type Graph, graphOf } from "./graph.ts";
import { isStateful, type Node, type SinkNode, type Stage, type StatefulNode, type Topology } from "./topology.ts";

/** How many times records may be shuffled; the description itself knows no limit. */
const maxShuffles = 1;

/**
 * The whole pipeline as data, from the pipeline or any of its streams.
 *
 * @throws UsageError if it is something else, or lacks a source, a sink, or an end to one of its branches
 */
export function describe(definition: unknown): Topology {
  if (!isDefinition(definition)) {
    throw new UsageError("not-a-pipeline", "This is no pipeline, and no stream of one", {
      wayOut: 'Export the pipeline as the default: export default pipeline("name").from(…)…',
    });
  }
  const graph = definition[graphOf];
  const { name, guarantee, onError, keyGroups } = graph.settings;
  const nodes = [...graph.nodes];
  checkComplete(graph);
  return {
    name,
    guarantee,
    onError,
    keyGroups,
    nodes,
    stages: stagesOf(graph),
    sinks: Object.fromEntries(graph.sinks),
    parameters: collectParameters(name, [...nodes, ...graph.sinks.values()]),
  };
}

export function isDefinition(value: unknown): value is Definition {
  return typeof value === "object" && value !== null && graphOf in value;
}

function checkComplete({ nodes, settings }: Graph): void {
  const place = { pipeline: settings.name };
  if (nodes.length === 0) {
    throw new UsageError("no-source", `Pipeline ${settings.name} reads nothing`, {
      wayOut: "Begin with .from(source).",
      place,
    });
  }
  if (!nodes.some((node) => node.kind === "sink")) {
    throw new UsageError("no-sink", `Pipeline ${settings.name} writes nothing`, {
      wayOut: "End with .to(sink).",
      place,
    });
  }
  const used = new Set(nodes.map(inputOf));
  const loose = nodes.find((node) => node.kind !== "sink" && !used.has(node.id));
  if (loose === undefined) return;
  throw new UsageError("loose-end", `${loose.id} of pipeline ${settings.name} leads to no sink`, {
    wayOut:
      loose.kind === "keyBy"
        ? "After .keyBy() go on with .aggregate({ … }) or .window(…).aggregate({ … }), and .to(sink)."
        : "End the branch with .to(sink), or take it away.",
    place: { ...place, operator: loose.id },
  });
}

function inputOf(node: Node): string | undefined {
  return node.kind === "source" ? undefined : node.input;
}

/** Records are shuffled on their way into an aggregation, so that it lives one stage after its input. */
function stagesOf({ nodes, settings }: Graph): Stage[] {
  const stageOf = new Map<string, number>();
  for (const node of nodes) {
    const inputStage = node.kind === "source" ? 0 : stageOf.get(node.input)!;
    stageOf.set(node.id, isStateful(node) ? inputStage + 1 : inputStage);
  }
  const stateful = nodes.filter(isStateful);
  const tooDeep = stateful.find(({ id }) => stageOf.get(id)! > maxShuffles);
  if (tooDeep !== undefined) throw secondShuffle(tooDeep, settings.name);

  const count = Math.max(...stageOf.values()) + 1;
  const deadLetters = settings.onError.action === "deadLetter" ? [settings.onError.sink] : [];
  const outputs = nodes.filter((node) => node.kind === "sink");
  return Array.from({ length: count }, (_, index) => {
    const shuffles = stateful.filter(({ id }) => stageOf.get(id) === index + 1);
    return {
      index,
      operators: stateful.filter(({ id }) => stageOf.get(id) === index).map(({ id }) => id),
      shuffles: shuffles.map(({ id }) => id),
      sinks: [...sinksOf(index, outputs, stageOf), ...lateSinks(shuffles), ...deadLetters],
    };
  });
}

function sinksOf(stage: number, outputs: readonly SinkNode[], stageOf: ReadonlyMap<string, number>): string[] {
  return outputs.filter((output) => stageOf.get(output.id) === stage).map((output) => output.id);
}

/** Whether a record is late is known where it is read, before the shuffle. */
function lateSinks(shuffles: readonly StatefulNode[]): string[] {
  return shuffles.flatMap((node) => (node.kind === "window" && node.late !== undefined ? [node.late] : []));
}

function secondShuffle({ id }: StatefulNode, pipeline: string): UsageError {
  return new UsageError(
    "second-shuffle",
    `${id} of pipeline ${pipeline} aggregates what another aggregation has made`,
    {
      wayOut:
        "One aggregation after another is not possible yet: write the first one's rows, and read them in a second pipeline.",
      place: { pipeline, operator: id },
    },
  );
}
