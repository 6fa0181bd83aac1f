/**
 * Makes `import … from "epochflow"` in a pipeline mean this very installation, wherever the pipeline's file lies: the sources in a clone,
 * `dist/` in the package. So a pipeline needs no installation of its own, and there is never a second engine beside the running one.
 *
 * Import this module for its effect, in every thread, before a pipeline is imported: hooks are not inherited by worker threads.
 */
import { registerHooks } from "node:module";
import { entryUrl } from "./package-files.ts";

const entries = new Map(
  Object.entries({
    epochflow: "shared/index",
    "epochflow/testing": "shared/testing/index",
    "epochflow/local": "local/index",
  }).map(([specifier, path]) => [specifier, entryUrl(path).href]),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = entries.get(specifier);
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
  },
});
