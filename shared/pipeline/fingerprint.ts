import { formatDuration } from "./durations.ts";
import {
  isStateful,
  type SinkDescription,
  type SourceDescription,
  type StatefulNode,
  type Topology,
  type WindowAssigner,
} from "./topology.ts";

/**
 * What the state of a pipeline rests on, as plain JSON: how its keys are spread, where positions come from, what each stateful operator
 * keeps, and where decided output is still to go. Two equal ones may take over each other's state.
 *
 * Not in it, since they may change at any time: functions, stateless operators, decoders, paths and other options of sources and
 * sinks, how far records may be out of order, when keys expire, and `onError` with its dead-letter sink, whose change is the way out of a bad record.
 */
export interface Fingerprint {
  readonly format: 1;
  readonly keyGroups: number;
  /** Kind of each source by id; of one that the user has made with its permanent options, as JSON: `queue {"name":"orders"}`. */
  readonly sources: Readonly<Record<string, string>>;
  readonly operators: Readonly<Record<string, OperatorFingerprint>>;
  /** The same of each sink by id, those for late records included; with the number of lanes, where it has any but 1: "kafka, 4 lanes". */
  readonly sinks: Readonly<Record<string, string>>;
}

interface AggregateFingerprint {
  readonly kind: "aggregate";
  readonly stage: number;
  /** Column and name of each, in order: accumulators are laid out by it. */
  readonly aggregates: readonly (readonly [column: string, name: string])[];
}

interface WindowFingerprint extends Omit<AggregateFingerprint, "kind"> {
  readonly kind: "window";
  readonly window: WindowAssigner;
  readonly allowedLatenessMs: number;
}

type OperatorFingerprint = WindowFingerprint | AggregateFingerprint;

/** Equal topologies give fingerprints that are equal as JSON text, too. */
export function fingerprint(topology: Topology): Fingerprint {
  const { nodes, onError } = topology;
  const isDeadLetter = (id: string) => onError.action === "deadLetter" && id === onError.sink;
  const sinks = Object.entries(topology.sinks).filter(([id]) => !isDeadLetter(id));
  return {
    format: 1,
    keyGroups: topology.keyGroups,
    sources: sorted(
      nodes.flatMap((node) => (node.kind === "source" ? [[node.id, connectorFingerprint(node.source)]] : [])),
    ),
    operators: sorted(nodes.filter(isStateful).map((node) => [node.id, operatorFingerprint(node, topology)])),
    sinks: sorted(sinks.map(([id, sink]) => [id, sinkFingerprint(sink)])),
  };
}

/** Which lane a partition belongs to decides under which marker its output is committed (protocol §9). */
function sinkFingerprint(sink: SinkDescription): string {
  if (sink.connector !== undefined) return connectorFingerprint(sink);
  const { lanes = 1 } = sink.options;
  return lanes === 1 ? sink.kind : `${sink.kind}, ${lanes} lanes`;
}

function connectorFingerprint({ kind, options, connector }: SourceDescription | SinkDescription): string {
  const permanent = sorted((connector?.permanent ?? []).map((name) => [name, options[name] ?? null]));
  return Object.keys(permanent).length === 0 ? kind : `${kind} ${JSON.stringify(permanent)}`;
}

function operatorFingerprint(node: StatefulNode, { stages }: Topology): OperatorFingerprint {
  const stage = stages.find(({ operators }) => operators.includes(node.id))!.index;
  const aggregates = Object.entries(node.aggregates).map(([column, { name }]) => [column, name] as const);
  if (node.kind === "aggregate") return { kind: "aggregate", stage, aggregates };
  const { kind, sizeMs, everyMs, offsetMs } = node.window;
  return {
    kind: "window",
    stage,
    window: { kind, sizeMs, everyMs, ...(offsetMs !== undefined && { offsetMs }) },
    allowedLatenessMs: node.allowedLatenessMs,
    aggregates,
  };
}

function sorted<T>(entries: readonly (readonly [id: string, value: T])[]): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Each difference as a sentence: "window-1: the size was 1 hour, is 30 minutes". None: the new one may go on with the old one's state. */
export function compareFingerprints(before: Fingerprint, after: Fingerprint): string[] {
  const was = factsOf(before);
  const is = factsOf(after);
  const subjects = new Set([...was.keys(), ...is.keys()]);
  return [...subjects].flatMap((subject) => {
    const old = was.get(subject);
    const now = is.get(subject);
    if (old === undefined) return `${subject} is new (${now!.get(identity)})`;
    if (now === undefined) return `${subject} is gone (it was ${old.get(identity)})`;
    return compareFacts(old, now).map((difference) => `${subject}: ${difference}`);
  });
}

type Facts = ReadonlyMap<string, string>;

/** The fact that says what a subject is. Subjects that agree in it have the same facts. */
const identity = "kind";

function compareFacts(old: Facts, now: Facts): string[] {
  if (old.get(identity) !== now.get(identity)) return [`was ${old.get(identity)}, is ${now.get(identity)}`];
  const changed = [...now].filter(([fact, value]) => old.get(fact) !== value);
  return changed.map(([fact, value]) => `${fact} was ${old.get(fact)}, is ${value}`);
}

/** By subject, what a user would say of it. */
function factsOf({ keyGroups, sources, operators, sinks }: Fingerprint): Map<string, Facts> {
  const facts = new Map<string, Facts>([
    [
      "the pipeline",
      new Map([
        [identity, "a pipeline"],
        ["the number of key groups", String(keyGroups)],
      ]),
    ],
  ]);
  for (const [id, kind] of Object.entries(sources)) facts.set(id, connectorFacts(kind, "source"));
  for (const [id, operator] of Object.entries(operators)) facts.set(id, operatorFacts(operator));
  for (const [id, kind] of Object.entries(sinks)) facts.set(id, sinkFacts(kind));
  return facts;
}

function connectorFacts(fingerprint: string, what: "source" | "sink"): Facts {
  const at = fingerprint.indexOf(" {");
  const [kind, permanent] = at < 0 ? [fingerprint, "{}"] : [fingerprint.slice(0, at), fingerprint.slice(at + 1)];
  const options = Object.entries(JSON.parse(permanent) as object);
  return new Map([
    [identity, `a ${kind} ${what}`],
    ...options.map(([name, value]) => [`the option ${name}`, JSON.stringify(value)] as const),
  ]);
}

function sinkFacts(fingerprint: string): Facts {
  if (fingerprint.includes(" {")) return connectorFacts(fingerprint, "sink");
  const [kind, lanes = "1 lanes"] = fingerprint.split(", ");
  return new Map([
    [identity, `a ${kind} sink`],
    ["the number of lanes", lanes.replace(" lanes", "")],
  ]);
}

function operatorFacts(operator: OperatorFingerprint): Facts {
  const isWindow = operator.kind === "window";
  const columns = operator.aggregates.map(([column, name]) => `${column} = ${name}()`);
  return new Map([
    [identity, isWindow ? `an aggregation in ${operator.window.kind} windows` : "a running aggregation"],
    ["the stage", String(operator.stage)],
    ...(isWindow ? windowFacts(operator) : []),
    ["the list of aggregates", columns.join(", ")],
  ]);
}

function windowFacts({ window, allowedLatenessMs }: WindowFingerprint): [fact: string, value: string][] {
  return [
    ["the size", formatDuration(window.sizeMs)],
    ["the offset", formatDuration(window.offsetMs ?? 0)],
    ["the allowed lateness", formatDuration(allowedLatenessMs)],
    ...(window.kind === "sliding" ? [["the interval", formatDuration(window.everyMs)] as [string, string]] : []),
  ];
}
