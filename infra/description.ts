import { createRequire } from "node:module";
import { resolve } from "node:path";
import "../local/self-reference.ts";
import "../local/typescript-modules.ts";
import { UsageError } from "../shared/errors.ts";
import { describe } from "../shared/pipeline/describe.ts";
import type { Topology } from "../shared/pipeline/topology.ts";

const require = createRequire(import.meta.url);

/**
 * The description of the pipeline that a module exports as its default, with parameters in it. CDK's constructs are made synchronously, and so the module is loaded.
 *
 * @throws UsageError for what the module lacks; whatever the module throws
 */
export function descriptionOf(entry: string): Topology {
  return describe(load(resolve(entry)).default);
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
