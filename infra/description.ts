import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { didYouMeanPath, displayPath } from "../local/paths.ts";
import "../local/self-reference.ts";
import "../local/typescript-modules.ts";
import { UsageError } from "../shared/errors.ts";
import { describe } from "../shared/pipeline/describe.ts";
import type { Topology } from "../shared/pipeline/topology.ts";

const require = createRequire(import.meta.url);

/**
 * The description of the pipeline that a module exports as its default, with parameters in it. CDK's constructs are made synchronously, and so the module is loaded.
 *
 * @throws UsageError `no-such-file`, and for what the module lacks; whatever the module throws
 */
export function descriptionOf(entry: string): Topology {
  return describe(load(locate(entry)).default);
}

function locate(entry: unknown): string {
  const wayOut = `Name the module whose default export is the pipeline, relative to ${process.cwd()}.`;
  if (typeof entry !== "string")
    throw new UsageError("invalid-option", "StreamPipeline needs the name of a file as its entry", { wayOut });
  const file = resolve(entry);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  const shown = displayPath(file);
  throw new UsageError("no-such-file", `There is no file ${shown} for entry.${didYouMeanPath(shown)}`, { wayOut });
}

function load(file: string): { readonly default?: unknown } {
  try {
    return require(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_REQUIRE_ASYNC_MODULE") throw error;
    throw new UsageError("async-pipeline", `${file} awaits something before it has a pipeline`, {
      wayOut: "Take the top-level await away: what a pipeline needs at run time are its parameters.",
      cause: error,
    });
  }
}
