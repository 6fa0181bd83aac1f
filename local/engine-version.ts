import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

/** The version of this very package, from its sources as well as from `dist/`. */
export function engineVersion(): string {
  return JSON.parse(readFileSync(findPackageJSON("..", import.meta.url)!, "utf8")).version;
}
