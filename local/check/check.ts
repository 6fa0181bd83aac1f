import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { finding } from "../../shared/finding.ts";
import { bind, missingParameters, renamed } from "../../shared/pipeline/bind.ts";
import type { KafkaSinkSettings, KafkaSourceSettings } from "../../shared/pipeline/connectors/kafka.ts";
import type { SourceNode, Topology } from "../../shared/pipeline/topology.ts";
import { userFilesOf } from "../code-digest.ts";
import { connectLocally } from "../compose.ts";
import { checkFolders } from "../folders.ts";
import { formatOffsets } from "../format.ts";
import { type LoadedPipeline, loadPipeline } from "../load.ts";
import { checkOutput } from "./files.ts";
import { Clusters, checkKafkaSink, checkKafkaSource, checkLoops, checkSourceRetention } from "./kafka.ts";
import { type CheckedTopic, CheckReport } from "./report.ts";
import { type Samples, trySamples } from "./samples.ts";
import { checkState, type KnownState } from "./state.ts";
import { checkTypes } from "./types.ts";

export interface CheckOptions {
  readonly parameters: Readonly<Record<string, string>>;
  readonly name?: string | undefined;
  readonly state?: string | undefined;
  /** Records of each partition that are tried; 0: none. */
  readonly samples: number;
}

/**
 * Looks at all that a run of the pipeline rests on, and tells everything that is wrong in one go. It reads, and asks what a broker refuses after it has looked at the rights: it
 * leaves nothing behind.
 */
export async function check(module: string, options: CheckOptions): Promise<CheckedTopic[]> {
  const report = new CheckReport();
  const loaded = await report.attempt("module", () => loadPipeline(module));
  const file = loaded ? fileURLToPath(loaded.url) : existing(module);
  if (file !== undefined) await checkTypes(report, file, loaded ? userFilesOf(loaded.url) : []);
  if (loaded !== undefined) await checkLoaded(report, loaded, options);
  return order(report.topics);
}

async function checkLoaded(report: CheckReport, loaded: LoadedPipeline, options: CheckOptions): Promise<void> {
  const named = await report.attempt("parameters", () => renamed(loaded.topology, options.name));
  if (named === undefined) return;
  report.note("module", `${named.name}, sinks: ${Object.keys(named.sinks).join(", ")}`);
  const { topology, lacking } = bindAll(report, named, options.parameters);
  const state = resolve(options.state ?? join(".epochflow", named.name));
  const known = await checkState(report, named, options.parameters, state);
  await using clusters = new Clusters(report);
  const samples = lacking.has("source")
    ? await checkClusterAlone(report, clusters, named, topology, options.parameters)
    : await checkSource(report, clusters, topology, known, state, options.samples);
  if (lacking.size === 0) {
    await report.attempt("sinks", () => checkFolders(topology, state));
    checkLoops(report, topology);
  }
  await checkSinks(report, clusters, topology, lacking, known, samples);
}

/** Every parameter that is unknown or has no value, at once; and what cannot be looked at for want of one. */
function bindAll(report: CheckReport, topology: Topology, given: Readonly<Record<string, string>>) {
  const names = topology.parameters.map(({ name }) => name);
  for (const name of Object.keys(given))
    if (!names.includes(name))
      report.add(
        "parameters",
        finding(
          "error",
          "unknown-parameter",
          `The pipeline has no parameter "${name}"`,
          names.length === 0 ? "It has none." : `Its parameters are: ${names.join(", ")}.`,
        ),
      );
  const missing = topology.parameters.filter(
    ({ name, defaultValue }) => defaultValue === undefined && !Object.hasOwn(given, name),
  );
  for (const { name } of missing)
    report.add(
      "parameters",
      finding(
        "error",
        "missing-parameter",
        `The parameter "${name}" has no value`,
        `Give it with --set ${name}=VALUE.`,
      ),
    );
  if (missing.length === 0 && names.length > 0) report.note("parameters", names.join(", "));
  const values = Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]!]] : [])),
  );
  const [node] = topology.nodes as [SourceNode];
  const parts = [["source", node.source] as const, ...Object.entries(topology.sinks)];
  const lacking = new Set(parts.filter(([, part]) => missingParameters(part, values).length > 0).map(([id]) => id));
  const placeholders = Object.fromEntries(missing.map(({ name }) => [name, ""]));
  return { topology: bind(topology, { ...placeholders, ...values }), lacking };
}

/** Of a source whose topics are not known, the cluster may be. */
async function checkClusterAlone(
  report: CheckReport,
  clusters: Clusters,
  { nodes: [described] }: Topology,
  { nodes: [bound] }: Topology,
  values: Readonly<Record<string, string>>,
): Promise<undefined> {
  report.note("source", "not checked, since a parameter is missing");
  if (described?.kind !== "source" || bound?.kind !== "source" || bound.source.kind !== "kafka") return;
  const { connection } = described.source.options;
  if (missingParameters({ options: { connection } }, values).length > 0) return;
  await clusters.reach("source", (bound.source.options as unknown as KafkaSourceSettings).connection);
}

async function checkSource(
  report: CheckReport,
  clusters: Clusters,
  topology: Topology,
  { last }: KnownState,
  state: string,
  records: number,
): Promise<Samples | undefined> {
  const [node] = topology.nodes as [SourceNode];
  const kafka = node.source.kind === "kafka" ? (node.source.options as unknown as KafkaSourceSettings) : undefined;
  if (kafka && !(await checkKafkaSource(report, clusters, kafka))) return undefined;
  const connectors = await report.attempt("source", () => connectLocally({ ...topology, sinks: {} }, state));
  if (connectors === undefined) return undefined;
  const { source, close } = connectors;
  try {
    const positions = new Map((last?.partitions ?? []).map(({ id, position }) => [id, position]));
    const found = await report.attempt("source", () => source.discover(last?.partitions ?? []));
    if (found === undefined) return undefined;
    const shown = found.filter(({ isRecord }) => !isRecord);
    const partitions = shown.map((one) => ({ ...one, position: positions.get(one.id) ?? one.start }));
    const backlog = partitions.reduce((sum, { position, end }) => sum + Math.max(0, end - position), 0);
    report.note(
      "source",
      `${counted(partitions.length, "partition")}, ${formatOffsets(backlog, source.offsets)} to read`,
    );
    if (records === 0) return undefined;
    const now = Date.now();
    const samples = await trySamples(topology, source, partitions, records, now);
    report.add("samples", ...samples.findings);
    report.note(
      "samples",
      samples.records === 0 ? "none: there is nothing to read" : `${counted(samples.records, "record")} tried`,
    );
    if (kafka) await checkSourceRetention(report, clusters, kafka, agesOf(partitions, samples, now));
    return samples;
  } finally {
    await close();
  }
}

/** By topic. */
function agesOf(
  partitions: readonly { id: string }[],
  { firstTimes }: Samples,
  now: number,
): Map<string, number | undefined> {
  const ages = new Map<string, number | undefined>();
  for (const { id } of partitions) {
    const topic = id.slice(0, id.lastIndexOf("/"));
    const time = firstTimes.get(id);
    const age = time === undefined ? undefined : now - time;
    const before = ages.get(topic);
    ages.set(topic, age === undefined ? before : Math.max(age, before ?? 0));
  }
  return ages;
}

async function checkSinks(
  report: CheckReport,
  clusters: Clusters,
  topology: Topology,
  lacking: ReadonlySet<string>,
  { uid }: KnownState,
  samples: Samples | undefined,
): Promise<void> {
  const { name, sinks, onError } = topology;
  const ageMs = samples?.earliest === undefined ? undefined : Date.now() - samples.earliest;
  for (const [sink, { kind, options }] of Object.entries(sinks)) {
    if (lacking.has(sink)) report.note("sinks", `${sink}: not checked, since a parameter is missing`);
    else if (kind === "files") {
      report.add("sinks", ...(await checkOutput(String(options.path), { pipeline: name, sink, uid })));
      report.note("sinks", `${sink}: ${options.path}`);
    } else if (kind === "kafka") {
      // Dead letters have the time of their epoch.
      const isLetters = onError.action === "deadLetter" && onError.sink === sink;
      const settings = options as unknown as KafkaSinkSettings;
      await checkKafkaSink(report, clusters, topology, sink, settings, isLetters ? undefined : ageMs);
    } else report.note("sinks", `${sink}: of kind ${kind}, which only its own code can check`);
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function existing(module: string): string | undefined {
  try {
    return realpathSync(module);
  } catch {
    return undefined;
  }
}

const orderOfTopics = ["types", "module", "parameters", "source", "samples", "sinks", "state"];

const order = (topics: readonly CheckedTopic[]): CheckedTopic[] =>
  [...topics].sort((one, other) => orderOfTopics.indexOf(one.topic) - orderOfTopics.indexOf(other.topic));
