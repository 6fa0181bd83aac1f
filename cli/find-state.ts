import { existsSync } from "node:fs";
import { join } from "node:path";
import { statePaths } from "../local/compose.ts";
import { loadPipeline } from "../local/load.ts";
import { didYouMeanPath, displayPath, namesIn } from "../local/paths.ts";
import { UsageError } from "../shared/errors.ts";
import { didYouMean } from "../shared/options.ts";
import type { Topology } from "../shared/pipeline/topology.ts";

export interface StateOptions {
  readonly state?: string;
  /** In place of the name in the module. */
  readonly name?: string;
}

export interface FoundState {
  readonly folder: string;
  /** Of the pipeline, where its module was given. */
  readonly topology: Topology | undefined;
}

/** All states of the working directory lie here, unless `--state` says otherwise. */
const root = ".epochflow";

/**
 * The state that a command means: `--state`; or that of a pipeline, given by its module or its name; or, given nothing, the only one there is.
 *
 * @throws UsageError `no-state`, `which-state`; those of `loadPipeline`
 */
export async function findState(pipeline: string | undefined, { state, name }: StateOptions): Promise<FoundState> {
  if (pipeline === undefined) {
    const folder = state ?? (name === undefined ? onlyState() : folderOfName(name));
    return { folder: existing(folder), topology: undefined };
  }
  if (state === undefined && hasState(join(root, pipeline)))
    return { folder: join(root, pipeline), topology: undefined };
  if (!existsSync(pipeline) && !/[./]/.test(pipeline)) throw noPipelineOfName(pipeline);
  const { topology } = await loadPipeline(pipeline);
  return { folder: existing(state ?? (name === undefined ? join(root, topology.name) : folderOfName(name))), topology };
}

function folderOfName(name: string): string {
  if (hasState(join(root, name))) return join(root, name);
  throw noPipelineOfName(name);
}

function noPipelineOfName(name: string): UsageError {
  const states = namesIn(root).filter((state) => hasState(join(root, state)));
  return new UsageError(
    "no-state",
    `There is no state of a pipeline "${name}" in ${root}.${didYouMean(name, states)}`,
    {
      wayOut: "Name the pipeline or its module, as they are seen from the working directory; or the state, by --state.",
    },
  );
}

function existing(folder: string): string {
  if (hasState(folder)) return folder;
  const what = existsSync(folder) ? "holds no state of a pipeline" : "does not exist";
  const meant = existsSync(folder) ? "" : didYouMeanPath(folder);
  throw new UsageError("no-state", `${displayPath(folder)} ${what}.${meant}`, {
    wayOut: "`epochflow run` makes the state of a pipeline; --state names a folder that is elsewhere.",
  });
}

function onlyState(): string {
  const folders = namesIn(root)
    .map((name) => join(root, name))
    .filter(hasState);
  if (folders.length === 1) return folders[0]!;
  if (folders.length === 0) {
    throw new UsageError("no-state", `There is no state of a pipeline below ${root} in this folder`, {
      wayOut: "`epochflow run` makes one; or name it with --state, or go where the pipeline was run.",
    });
  }
  throw new UsageError("which-state", `There are ${folders.length} states in ${root}: which one?`, {
    wayOut: `Name the pipeline, or add one of: ${folders.map((folder) => `--state ${folder}`).join(", ")}`,
  });
}

function hasState(folder: string): boolean {
  return existsSync(statePaths(folder).ledger);
}
