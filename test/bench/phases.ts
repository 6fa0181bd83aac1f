import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What V8's sampling profiler writes (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile), as far as it is used here. */
interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, one a sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export const phases = [
  "read and decode",
  "operators and fold",
  "merge and fire",
  "encode and sink",
  "snapshot",
  "protocol",
  "garbage collection",
  "start and other",
] as const;
export type Phase = (typeof phases)[number];

type Rule = readonly [file: RegExp, phase: Phase];

/** Which phase a function belongs to, by its file; the first that fits. What no rule is about belongs to the phase of its caller. */
const rules: readonly Rule[] = [
  [/adapters\/filesystem\/(source|input-|line|locator|identity)|pipeline\/decoders\//, "read and decode"],
  [/adapters\/filesystem\/(sink|staged-file|seal|manifest|durable|digest)/, "encode and sink"],
  [/shared\/state\/(state-store|snapshot|chains)/, "snapshot"],
  [/shared\/operators\/(keyed-stage|merge|firing|results|partials)/, "merge and fire"],
  [/shared\/operators\/|examples\//, "operators and fold"],
  [/shared\/epoch\/|adapters\/(items|sqlite|system)\/|local\/|aws-local-stepfunctions/, "protocol"],
];

/** The same, where no caller is known: after an `await` there is none. These files hold snapshots, and what is shuffled. */
const rulesWithoutCaller: readonly Rule[] = [
  [/shared\/state\/grouped-object|adapters\/filesystem\/object-store/, "snapshot"],
];

/** The share of each phase in the CPU time of the JavaScript threads whose profiles lie in a folder. */
export function phaseShares(folder: string): ReadonlyMap<Phase, number> {
  const times = new Map<Phase, number>(phases.map((phase) => [phase, 0]));
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".cpuprofile")))
    addTimes(JSON.parse(readFileSync(join(folder, file), "utf8")), times);
  const total = times.values().reduce((sum, time) => sum + time, 0);
  return new Map([...times].map(([phase, time]) => [phase, time / total]));
}

function addTimes({ nodes, samples, timeDeltas }: Profile, times: Map<Phase, number>): void {
  const phaseOf = classify(nodes);
  samples.forEach((id, index) => {
    const phase = phaseOf.get(id);
    if (phase !== undefined) times.set(phase, times.get(phase)! + timeDeltas[index]!);
  });
}

/** The phase of each node that stands for CPU time: that of the innermost function on its stack that has one. */
function classify(nodes: readonly ProfileNode[]): Map<number, Phase> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const phaseOf = new Map<number, Phase>();
  const visit = (node: ProfileNode, ofCaller: Phase | undefined): void => {
    const phase = match(rules, node) ?? ofCaller ?? match(rulesWithoutCaller, node);
    const { functionName } = node.callFrame;
    if (functionName === "(garbage collector)") phaseOf.set(node.id, "garbage collection");
    else if (functionName !== "(idle)") phaseOf.set(node.id, phase ?? "start and other");
    for (const child of node.children ?? []) visit(byId.get(child)!, phase);
  };
  if (nodes[0] !== undefined) visit(nodes[0], undefined);
  return phaseOf;
}

function match(among: readonly Rule[], { callFrame: { url } }: ProfileNode): Phase | undefined {
  return among.find(([file]) => file.test(url))?.[1];
}
