import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { engineVersion } from "./engine-version.ts";

/**
 * The digest of the code that a pipeline consists of (protocol §5): all files that its module has loaded outside node_modules, by content, so that
 * it does not depend on where they lie; and the engine. Hooks note what this thread loads from here on.
 */

/** Digest of each loaded file, and the files that it imports, by URL. */
const contents = new Map<string, string>();
const imports = new Map<string, Set<string>>();

/** For errors that do not say where they are: the file whose loading began last, and the import that could not be resolved. */
export interface Trail {
  loading?: string;
  unresolved?: { readonly specifier: string; readonly importer: string };
}
export const trail: Trail = {};

const engineRoot = new URL("..", import.meta.url).href;
const engineFolders = ["shared", "composition", "functions", "local", "statemachines"];
const runsFromSources = extname(import.meta.url) === ".ts";

registerHooks({
  resolve(specifier, context, nextResolve) {
    const importer = context.parentURL;
    try {
      const resolved = nextResolve(specifier, context);
      if (importer !== undefined) edgesOf(importer).add(resolved.url);
      return resolved;
    } catch (error) {
      if (importer !== undefined) trail.unresolved = { specifier, importer };
      throw error;
    }
  },
  load(url, context, nextLoad) {
    trail.loading = url;
    // Of CommonJS the source may be left to a later step.
    if (isUserCode(url)) contents.set(url, sha256(readFileSync(fileURLToPath(url))));
    return nextLoad(url, context);
  },
});

/** The digest of a module that this thread has loaded. */
export async function codeDigest(url: string): Promise<string> {
  const files = reachable(url);
  // A program may have imported the module before the hooks were there: then what it imports is not known here.
  return files.every((file) => contents.has(file)) ? digestOf(files) : digestInNewThread(url);
}

/** Of those files that were loaded: one that was only looked for, say by `import.meta.resolve`, is no code. */
function digestOf(files: readonly string[]): string {
  const digests = files.flatMap((file) => contents.get(file) ?? []).sort();
  return sha256(JSON.stringify([engineDigest(), digests]));
}

async function digestInNewThread(url: string): Promise<string> {
  const code = `const { workerData, parentPort } = require("node:worker_threads");
    Promise.all(workerData.hooks.map((hook) => import(hook)))
      .then(([{ loadedDigest }]) => import(workerData.url).then(() => parentPort.postMessage(loadedDigest(workerData.url))));`;
  const others = ["self-reference", "typescript-modules"].map((name) => name + extname(import.meta.url));
  const hooks = [import.meta.url, ...others.map((file) => new URL(file, import.meta.url).href)];
  const worker = new Worker(code, { eval: true, workerData: { hooks, url } });
  const [digest] = await once(worker, "message");
  await worker.terminate();
  return digest;
}

/** The digest as far as this thread knows it: for a thread that has loaded nothing else. */
export function loadedDigest(url: string): string {
  return digestOf(reachable(url));
}

/** For a pipeline that is given as an object: which files made it is not known, but all its code runs in this one process. */
export function codeDigestOfEngine(): string {
  return digestOf([]);
}

/** Paths of the user's files that a module, which this thread has loaded, consists of. */
export function userFilesOf(url: string): string[] {
  return reachable(url).map((file) => fileURLToPath(file));
}

/** The user's files among what a module imports, itself included. */
function reachable(url: string): string[] {
  const found = new Set([url]);
  // A set goes on to what is added while it is walked.
  for (const file of found) {
    for (const imported of imports.get(file) ?? []) if (isUserCode(imported)) found.add(imported);
  }
  return [...found].filter(isUserCode);
}

/** Neither a package nor the engine. */
export function isUserCode(url: string): boolean {
  return url.startsWith("file:") && !url.includes("/node_modules/") && !isEngine(url);
}

function isEngine(url: string): boolean {
  return engineFolders.some((folder) => url.startsWith(`${engineRoot}${folder}/`));
}

/** The version stands for an installed engine; the files themselves for one that is being worked on. */
function engineDigest(): string[] {
  return [engineVersion(), ...(runsFromSources ? engineFolders.flatMap(digestFolder) : [])];
}

function digestFolder(folder: string): string[] {
  const root = new URL(`${folder}/`, engineRoot);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|json)$/.test(name) && !name.endsWith(".test.ts"))
    .sort()
    .map((name) => sha256(readFileSync(new URL(name, root))));
}

function edgesOf(url: string): Set<string> {
  const edges = imports.get(url) ?? new Set();
  imports.set(url, edges);
  return edges;
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
