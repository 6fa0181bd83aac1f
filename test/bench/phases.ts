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

/**
 * Which phase a function belongs to, by its file and name; the first rule that fits. Files that serve several phases have no rule: what they do
 * belongs to the phase of their caller.
 */
const rules: readonly (readonly [file: RegExp, name: RegExp | undefined, phase: Phase])[] = [
  [/adapters\/filesystem\/(source|input-|line|locator|identity)/, undefined, "read and decode"],
  [/pipeline\/decoders\//, undefined, "read and decode"],
  [/adapters\/filesystem\/(object-store)/, undefined, "snapshot"],
  [/adapters\/filesystem\//, undefined, "encode and sink"],
  [/shared\/state\/(state-store|snapshot|grouped-object|chains)/, undefined, "snapshot"],
  [/shared\/operators\/(keyed-stage|partials)/, undefined, "merge and fire"],
  [/shared\/operators\/|examples\//, undefined, "operators and fold"],
  [/shared\/epoch\/|shared\/adapters\/|local\/|aws-local-stepfunctions/, undefined, "protocol"],
];

const notCpu = new Set(["(idle)"]);

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
  const visit = (node: ProfileNode, callers: Phase): void => {
    const phase = ownPhase(node) ?? callers;
    if (!notCpu.has(node.callFrame.functionName)) phaseOf.set(node.id, phase);
    for (const child of node.children ?? []) visit(byId.get(child)!, phase);
  };
  if (nodes[0] !== undefined) visit(nodes[0], "start and other");
  return phaseOf;
}

function ownPhase({ callFrame: { functionName, url } }: ProfileNode): Phase | undefined {
  if (functionName === "(garbage collector)") return "garbage collection";
  return rules.find(([file, name]) => file.test(url) && (name?.test(functionName) ?? true))?.[2];
}
