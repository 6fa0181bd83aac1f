import { existsSync, readdirSync } from "node:fs";
import { dirname, join, parse, relative } from "node:path";
import { nearest } from "../shared/options.ts";

/** For people: relative to the working directory where it lies below, else as it is. */
export function displayPath(file: string): string {
  const path = relative("", file);
  return path.startsWith("..") ? file : path || ".";
}

/** ` Did you mean "x"?` about a path that is not there: the nearest name beside its first part that is missing. Else nothing. */
export function didYouMeanPath(path: string, show: (path: string) => string = displayPath): string {
  let missing = path;
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  const folder = dirname(missing);
  const wanted = parse(missing);
  // All TypeScript modules are alike in their last letters.
  const near = namesIn(folder).filter((name) => nearest(wanted.name, [parse(name).name]) !== undefined);
  const name = nearest(wanted.base, near);
  return name === undefined ? "" : ` Did you mean "${show(join(folder, name, path.slice(missing.length)))}"?`;
}

/** Sorted names in a folder; none where it is missing or no folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
