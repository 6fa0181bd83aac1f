import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What V8's sampling profiler writes (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile), as far as it is used here. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, one a sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/** A function, as it was called by those above it. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** A function of a profile, with its callers and the time in which itself ran. */
export interface Call {
  readonly node: ProfileNode;
  /** From the outermost one. */
  readonly callers: readonly ProfileNode[];
  readonly microseconds: number;
}

/** The profiles that `--cpu-prof` left in a folder: one of each JavaScript thread. */
export function readProfiles(folder: string): Profile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
}

/** All that stands for CPU time; what V8 has as the root is left out. */
export function callsOf({ nodes, samples, timeDeltas }: Profile): Call[] {
  const times = new Map<number, number>();
  samples.forEach((id, index) => {
    times.set(id, (times.get(id) ?? 0) + timeDeltas[index]!);
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const calls: Call[] = [];
  const visit = (node: ProfileNode, callers: readonly ProfileNode[]): void => {
    const microseconds = times.get(node.id) ?? 0;
    if (microseconds > 0 && node.callFrame.functionName !== "(idle)") calls.push({ node, callers, microseconds });
    const below = [...callers, node];
    for (const child of node.children ?? []) visit(byId.get(child)!, below);
  };
  for (const child of nodes[0]?.children ?? []) visit(byId.get(child)!, []);
  return calls;
}
