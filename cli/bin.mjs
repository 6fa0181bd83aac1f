#!/usr/bin/env node
// The launcher. Plain JavaScript that an old Node can read too, so that it can say what is missing.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
/** Set for the process that an older Node starts in its own place, to its version. */
const LAUNCHED = "EPOCHFLOW_LAUNCHED";

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  if (process.env[LAUNCHED] !== undefined) dieWithLauncher();
  keepCompiledCode();
  const sources = new URL("./main.ts", import.meta.url);
  const isClone = existsSync(fileURLToPath(sources));
  const { main } = await import(isClone ? sources.href : new URL("../dist/cli/main.js", import.meta.url).href);
  process.exitCode = await main(process.argv.slice(2));
  // A pipeline's module may have left timers or sockets, which would hold the process.
  process.stdout.write("", () => process.exit());
} else {
  const node = packagedNode();
  if (node === undefined) complain();
  else runAgain(node);
}

/** Starting takes half the time when what was compiled, and stripped of types, is kept. Worker threads look at the variable. */
function keepCompiledCode() {
  const { directory } = module.enableCompileCache();
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
}

/** The binary of the npm package `node`, where it is installed: it brings a newer Node than the machine's. */
function packagedNode() {
  try {
    return createRequire(import.meta.url).resolve("node/bin/node");
  } catch {
    return undefined;
  }
}

/** Whoever kills the launcher means the command: it must not work on, unseen, and keep its state in use. */
function dieWithLauncher() {
  // `init` makes a project for the machine's own Node.
  process.env.EPOCHFLOW_MACHINE_NODE = process.env[LAUNCHED];
  delete process.env[LAUNCHED];
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.channel?.unref();
}

function runAgain(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [LAUNCHED]: process.versions.node },
  });
  // A terminal sends Ctrl-C to both: the child ends after its epoch, and this process waits for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", complain);
  child.on("exit", (code, signal) => {
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

function complain() {
  process.stderr.write(
    `epochflow needs Node ${NEEDED} or newer; this is Node ${process.versions.node} (${process.execPath}).
In a clone of epochflow, run \`npm ci\`: it brings Node ${NEEDED}, and npm scripts and npx use it.
In your own project, \`npm install --save-dev node@${NEEDED}\` does the same for that project.
For a new project: \`npx --package node@${NEEDED} --package epochflow epochflow init my-pipeline\`.
`,
  );
  process.exitCode = 1;
}
