/**
 * Where this very package has its files. In a clone each module is a source file; in the package that is installed, many modules share one (`build.ts`), so
 * that none of them can tell by its own place where others are.
 */
import { findPackageJSON } from "node:module";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";

export const runsFromSources = extname(import.meta.url) === ".ts";

export const packageRoot = new URL(".", pathToFileURL(findPackageJSON("..", import.meta.url)!));

/** The folder above `shared`, `local` and the others. */
export const codeRoot = runsFromSources ? packageRoot : new URL("dist/", packageRoot);

/** @param path of a module that stays a file of its own, below the root of the code and without its ending */
export function entryUrl(path: string): URL {
  return new URL(path + (runsFromSources ? ".ts" : ".js"), codeRoot);
}
