import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { EpochflowError, UsageError } from "../shared/errors.ts";
import { isUserCode, type Trail } from "./code-digest.ts";
import { didYouMeanPath, displayPath } from "./paths.ts";

interface Place {
  readonly file: string;
  readonly line?: number;
}

/** What importing a pipeline's module threw, as a usage error that names the file and line where it went wrong. */
export function loadFailure(error: unknown, trail: Trail): UsageError {
  if (error instanceof EpochflowError) return refused(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const loading = trail.loading === undefined ? undefined : { file: toPath(trail.loading) };
  if (code === "ERR_MODULE_NOT_FOUND" && trail.unresolved !== undefined) return unresolved(error, trail.unresolved);
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" || code === "ERR_IMPORT_ATTRIBUTE_MISSING")
    return notLoaded(error, "This is neither TypeScript nor JavaScript", loading);
  if (error instanceof SyntaxError) {
    return notLoaded(
      error,
      `Cannot load the pipeline's module: ${error.message}`,
      placeInStack(error) ?? placeByCheck(loading),
      code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" ? onlyTypes : undefined,
    );
  }
  const thrown = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return notLoaded(error, `The pipeline's module threw while it was loaded: ${thrown}`, placeInStack(error) ?? loading);
}

const onlyTypes =
  "Node takes types out, and compiles nothing: write a constant object instead of an enum, fields instead of parameter properties, modules instead of namespaces.";

/** The DSL's own refusal of a wrong argument, with the line of the user's call. */
function refused(error: EpochflowError): UsageError {
  const place = { ...shown(placeInStack(error)), ...error.place };
  const wayOut = error.wayOut === undefined ? {} : { wayOut: error.wayOut };
  return new UsageError(error.code, error.message, { ...wayOut, place, cause: error });
}

function unresolved(cause: unknown, { specifier, importer }: NonNullable<Trail["unresolved"]>): UsageError {
  const file = toPath(importer);
  const place = { file, ...lineOf(specifier, file) };
  if (!/^\.{0,2}\//.test(specifier)) {
    return notLoaded(
      cause,
      `There is no package "${specifier}"`,
      place,
      "Install it where the pipeline lies, with `npm install`.",
    );
  }
  const folder = dirname(file);
  const meant = didYouMeanPath(join(folder, specifier), (path) => `./${relative(folder, path)}`);
  return notLoaded(
    cause,
    `There is no module "${specifier}".${meant}`,
    place,
    "Imports name the file with its extension.",
  );
}

function notLoaded(cause: unknown, message: string, place: Place | undefined, wayOut?: string): UsageError {
  return new UsageError("pipeline-not-loaded", message, {
    ...(wayOut === undefined ? {} : { wayOut }),
    place: shown(place),
    cause,
  });
}

function shown(place: Place | undefined): Place | Record<string, never> {
  return place === undefined ? {} : { ...place, file: displayPath(place.file) };
}

/** The first place of a stack that is in the user's code: a URL in a module, a path in CommonJS. */
function placeInStack(error: unknown): Place | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const [, url, path, line] of stack.matchAll(/(?:(file:\/\/[^\s)]+?)|\((\/[^)]+?)):(\d+)(?=[:\s)])/g)) {
    if (isUserCode(url ?? `file://${path}`)) return { file: path ?? toPath(url!), line: Number(line) };
  }
  return undefined;
}

/** Of a syntax error in plain JavaScript an exception does not hold the place, but `node --check` prints it. */
function placeByCheck(loading: Place | undefined): Place | undefined {
  if (loading === undefined) return undefined;
  const { stderr } = spawnSync(process.execPath, ["--check", loading.file], { encoding: "utf8" });
  const line = /^\S+:(\d+)$/m.exec(stderr)?.[1];
  return line === undefined ? loading : { ...loading, line: Number(line) };
}

function lineOf(specifier: string, file: string): { line?: number } {
  const text = readFileSync(file, "utf8");
  const at = Math.max(...['"', "'", "`"].map((quote) => text.indexOf(quote + specifier + quote)));
  return at < 0 ? {} : { line: text.slice(0, at).split("\n").length };
}

function toPath(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}
