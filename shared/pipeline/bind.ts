import { UsageError } from "../errors.ts";
import { didYouMean } from "../options.ts";
import { checkName } from "./names.ts";
import { Parameter } from "./parameter.ts";
import { Secret } from "./secret.ts";
import type { Node, SinkDescription, Topology } from "./topology.ts";

/** All parameters in the options of sources and sinks, each once, in order of appearance. @throws UsageError `parameter-conflict` */
export function collectParameters(pipeline: string, parts: readonly (Node | SinkDescription)[]): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const part of parts) {
    mapParameters(optionsOf(part), (parameter) => {
      const known = found.get(parameter.name);
      if (known?.defaultValue === undefined) found.set(parameter.name, parameter);
      else if (parameter.defaultValue !== undefined && parameter.defaultValue !== known.defaultValue) {
        throw new UsageError("parameter-conflict", `Parameter "${parameter.name}" has two defaults that differ`, {
          wayOut: "Make it once, and use the constant in both places.",
          place: { pipeline },
        });
      }
      return parameter;
    });
  }
  return [...found.values()];
}

/** Parameters whose values anybody may see: those that do not stand for secrets alone. */
export function visibleParameters({ parameters, nodes, sinks }: Topology): Parameter[] {
  const names = new Set<string>();
  // A secret shows as a text before its parameter is looked at.
  JSON.stringify([...nodes, ...Object.values(sinks)].map(optionsOf), (_, value) => {
    if (value instanceof Parameter) names.add(value.name);
    return value;
  });
  return parameters.filter(({ name }) => names.has(name));
}

/**
 * The topology with values in place of its parameters.
 *
 * @param name in place of its own: one module, run with other values under another name, is another pipeline, with a state of its own
 * @throws UsageError `unknown-parameter` for a value that it has no parameter for, `missing-parameter` for one without value and default, `invalid-name`
 */
export function bind(topology: Topology, values: Readonly<Record<string, string>>, name?: string): Topology {
  const names = topology.parameters.map((parameter) => parameter.name);
  for (const name of Object.keys(values)) {
    if (!names.includes(name)) throw unknownParameter(topology, name, names);
  }
  const bound = new Map(
    topology.parameters.map((parameter) => [parameter.name, valueFor(topology, parameter, values)]),
  );
  const copies = new Map<object, unknown>();
  const replace = (options: unknown) =>
    mapParameters(options, ({ name }) => bound.get(name), copies) as Record<string, unknown>;
  return {
    ...renamed(topology, name),
    nodes: topology.nodes.map((node) =>
      node.kind === "source" ? { ...node, source: { ...node.source, options: replace(node.source.options) } } : node,
    ),
    sinks: Object.fromEntries(
      Object.entries(topology.sinks).map(([id, sink]) => [id, { ...sink, options: replace(sink.options) }]),
    ),
    parameters: [],
  };
}

/** @throws UsageError `invalid-name` */
export function renamed(topology: Topology, name = topology.name): Topology {
  return { ...topology, name: checkName("name of a pipeline", name) };
}

function valueFor(
  topology: Topology,
  { name, defaultValue }: Parameter,
  values: Readonly<Record<string, string>>,
): string {
  const value = Object.hasOwn(values, name) ? values[name] : defaultValue;
  if (value !== undefined) return value;
  throw new UsageError("missing-parameter", `Pipeline ${topology.name} needs a value for the parameter "${name}"`, {
    wayOut: `Give it with --set ${name}=VALUE. ${listParameters(topology)}`,
    place: { pipeline: topology.name },
  });
}

function unknownParameter(topology: Topology, name: string, names: readonly string[]): UsageError {
  const message = `Pipeline ${topology.name} has no parameter "${name}".${didYouMean(name, names)}`;
  return new UsageError("unknown-parameter", message, {
    wayOut: listParameters(topology),
    place: { pipeline: topology.name },
  });
}

/** Names of the parameters that a source or sink cannot do without, and for which there is no value. */
export function missingParameters(
  part: { readonly options: Readonly<Record<string, unknown>> },
  values: Readonly<Record<string, string>>,
): string[] {
  const missing = new Set<string>();
  mapParameters(part.options, ({ name, defaultValue }) => {
    if (defaultValue === undefined && !Object.hasOwn(values, name)) missing.add(name);
  });
  return [...missing];
}

function listParameters({ parameters }: Topology): string {
  if (parameters.length === 0) return "It has no parameters.";
  const known = parameters.map(({ name, defaultValue }) =>
    defaultValue === undefined ? name : `${name} (${defaultValue})`,
  );
  return `Its parameters are: ${known.join(", ")}.`;
}

function optionsOf(part: Node | SinkDescription): unknown {
  if ("options" in part) return part.options;
  return part.kind === "source" ? part.source.options : undefined;
}

/**
 * A copy of plain data with each parameter replaced; functions, expressions and what else is neither an array nor a plain object stay.
 *
 * @param copies what was copied before: one object that stands in several places stays one, as a connection that sources and sinks share
 */
function mapParameters(
  value: unknown,
  replace: (parameter: Parameter) => unknown,
  copies = new Map<object, unknown>(),
): unknown {
  if (value instanceof Parameter) return replace(value);
  if (value instanceof Secret) return value.bind(replace);
  if (Array.isArray(value)) return value.map((item) => mapParameters(item, replace, copies));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  if (!copies.has(value)) {
    const entries = Object.entries(value).map(([key, item]) => [key, mapParameters(item, replace, copies)]);
    copies.set(value, Object.fromEntries(entries));
  }
  return copies.get(value);
}
