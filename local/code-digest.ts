import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { engineVersion } from "./engine-version.ts";
import { codeRoot, entryUrl, runsFromSources } from "./package-files.ts";

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

/** Of the sources. All that is built is the engine. */
const engineFolders = ["shared", "composition", "functions", "local", "statemachines"];
const engineRoots = runsFromSources ? engineFolders.map((folder) => `${codeRoot}${folder}/`) : [codeRoot.href];

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
  const worker = new Worker(entryUrl("local/digest-worker"), { workerData: { url } });
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
  return engineRoots.some((root) => url.startsWith(root));
}

/** The version stands for an installed engine; the files themselves for one that is being worked on. */
function engineDigest(): string[] {
  return [engineVersion(), ...(runsFromSources ? engineRoots.flatMap(digestFolder) : [])];
}

function digestFolder(folder: string): string[] {
  const root = new URL(folder);
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
