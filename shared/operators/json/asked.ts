import { isPlainJson } from "../../pipeline/decoders/json.ts";
import { pointerOf } from "../../pipeline/pointer.ts";
import { isStateful, type Node, type SourceNode, type Topology } from "../../pipeline/topology.ts";
import type { AnyAggregate } from "../../state/columns.ts";
import { kernelOf } from "../kernels.ts";

/** With more of them, decoding is no dearer. */
const mostPointers = 24;

/**
 * The pointers by which a pipeline asks for parts of its source's documents; undefined if it asks for anything else, or the source has others than plain documents of
 * JSON: then they are decoded.
 */
export function pointersAsked(topology: Topology, { id, source }: SourceNode): readonly string[] | undefined {
  if (!isPlainJson(source.value)) return undefined;
  const nodes = topology.nodes.filter((node) => node.kind !== "source" && node.input === id);
  const selects: unknown[] = source.timestamp === undefined ? [] : [source.timestamp];
  const asked = [...selects.map((select) => pointerOf(select)), ...nodes.map((node) => askedBy(topology, node))].flat();
  const pointers = asked.filter((pointer): pointer is string => pointer !== undefined && pointer !== "");
  return pointers.length === asked.length && pointers.length <= mostPointers ? [...new Set(pointers)] : undefined;
}

/** `undefined` among them, or "", stands for the whole value. */
function askedBy(topology: Topology, node: Node): readonly (string | undefined)[] {
  if (node.kind === "select") return Object.values(node.fields);
  if (node.kind === "map" || node.kind === "flatMap") return [pointerOf(node.apply)].flat();
  if (node.kind !== "keyBy") return [undefined];
  const aggregates = topology.nodes
    .filter(isStateful)
    .filter(({ input }) => input === node.id)
    .flatMap((stateful) => Object.values(stateful.aggregates) as AnyAggregate[]);
  // Where failures are survived, accumulators that change in place are made again from whole values.
  const survives = topology.onError.action !== "fail" && aggregates.some(({ numeric }) => numeric !== true);
  const asked = aggregates.filter((aggregate) => kernelOf(aggregate) === undefined).map(({ add }) => pointerOf(add));
  return [pointerOf(node.apply), ...asked, ...(survives ? [undefined] : [])].flat();
}
