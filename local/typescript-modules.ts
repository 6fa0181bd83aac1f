/**
 * Lets a TypeScript file be an ES module by its syntax even where its package.json says `"type": "commonjs"`, which `npm init` writes by itself:
 * a pipeline is written with `import` and `export`, and TypeScript's users are not used to think of it. Without a `type` Node does the same.
 *
 * Import this module for its effect, in every thread, before a pipeline is imported.
 */
import { registerHooks } from "node:module";

const moduleSyntax = /^\s*(import|export)\b/m;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (loaded.format !== "commonjs-typescript" || !url.endsWith(".ts") || url.includes("/node_modules/"))
      return loaded;
    const { source } = nextLoad(url, { ...context, format: "module-typescript" });
    return moduleSyntax.test(String(source))
      ? { format: "module-typescript", source: source!, shortCircuit: true }
      : loaded;
  },
});
