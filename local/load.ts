import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UsageError } from "../shared/errors.ts";
import { describe, isDefinition } from "../shared/pipeline/describe.ts";
import type { Definition } from "../shared/pipeline/graph.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { codeDigest, trail } from "./code-digest.ts";
import { loadFailure } from "./load-failure.ts";
import { didYouMeanPath, displayPath, namesIn } from "./paths.ts";
import "./self-reference.ts";
import "./typescript-modules.ts";
import "./typescript-modules.ts";

export interface LoadedPipeline {
  readonly topology: Topology;
  /** Of all files that the module loads outside node_modules, and of the engine. */
  readonly codeDigest: string;
  /** Of the module, with symbolic links resolved. */
  readonly url: string;
}

/**
 * Imports a module (a path relative to the working directory, or a `file:` URL) whose default export is a pipeline.
 *
 * @throws UsageError `no-such-file` with the nearest name; `pipeline-not-loaded` with file and line, for what is wrong inside; `no-pipeline`.
 */
export async function loadPipeline(module: string | URL): Promise<LoadedPipeline> {
  const file = locate(module);
  const url = pathToFileURL(realpathSync(file)).href;
  const definition = pipelineOf(await importModule(url), displayPath(file));
  return { topology: describe(definition), codeDigest: await codeDigest(url), url };
}

function locate(module: string | URL): string {
  const isUrl = module instanceof URL || module.startsWith("file:");
  const file = isUrl ? fileURLToPath(module) : resolve(module);
  const shown = displayPath(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new UsageError("no-such-file", `There is no file ${shown}.${didYouMeanPath(shown)}`, {
      wayOut: "Name the module whose default export is the pipeline, relative to the working directory.",
    });
  }
  if (!stats.isDirectory()) return file;
  const modules = namesIn(file).filter((name) => /\.[cm]?[jt]s$/.test(name));
  throw new UsageError("no-such-file", `${shown} is a folder, not a pipeline's module`, {
    wayOut: modules.length === 0 ? "Name a file." : `Name a file; it holds ${modules.join(", ")}.`,
  });
}

async function importModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  delete trail.loading;
  delete trail.unresolved;
  const { promise: neverLoaded, reject } = Promise.withResolvers<never>();
  const onIdle = () => reject(new UsageError("pipeline-not-loaded", "The pipeline's module awaits what never happens"));
  process.once("beforeExit", onIdle);
  try {
    return await Promise.race([import(url), neverLoaded]);
  } catch (error) {
    throw loadFailure(error, trail);
  } finally {
    process.off("beforeExit", onIdle);
  }
}

function pipelineOf(exported: Readonly<Record<string, unknown>>, file: string): Definition {
  const value = exported.default;
  if (isDefinition(value)) return value;
  const named = Object.keys(exported).find((name) => isDefinition(exported[name]));
  const found =
    value === undefined ? "has no default export" : `exports ${kindOf(value)} as its default, not a pipeline`;
  throw new UsageError("no-pipeline", `${file} ${found}`, {
    wayOut:
      named === undefined
        ? 'End the module with `export default pipeline("name").from(…)…;`.'
        : `Its pipeline is exported by name: write \`export default ${named};\`.`,
    place: { file },
  });
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
