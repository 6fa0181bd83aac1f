/**
 * `npm run build`: makes `dist`, which is what the npm package holds of the engine. TypeScript makes declarations, a file a module; esbuild makes JavaScript, all
 * modules in few files, since each thread of a run loads them: a file costs Node about a third of a millisecond, and there are some hundreds. The entries share
 * chunks, so that a module is there once, whoever imports it.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, rmSync } from "node:fs";
import { build } from "esbuild";

/** What the package exports, what the command starts, and what threads and Lambda functions begin with. */
const entries = [
  ...["shared/index", "shared/testing/index", "local/index", "infra/index"],
  ...["cli/main", "local/worker", "local/digest-worker", "functions/index"],
];
const client = "local/watch/page/client";

process.chdir(import.meta.dirname);
rmSync("dist", { recursive: true, force: true });
for (const project of ["tsconfig.build.json", `${client}/tsconfig.build.json`])
  execFileSync("node_modules/.bin/tsc", ["--project", project], { stdio: "inherit" });
for (const name of ["index.html", "page.css", "icon.svg"]) copyFileSync(`${client}/${name}`, `dist/${client}/${name}`);
cpSync("statemachines", "dist/statemachines", { recursive: true });
await build({
  entryPoints: entries.map((entry) => `${entry}.ts`),
  bundle: true,
  splitting: true,
  // Dependencies are installed beside the package.
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node24",
  outdir: "dist",
  outbase: ".",
  chunkNames: "chunks/[name]-[hash]",
  logLevel: "warning",
});
