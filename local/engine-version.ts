import { readFileSync } from "node:fs";
import { packageRoot } from "./package-files.ts";

/** The version of this very package, from its sources as well as from `dist/`. */
export function engineVersion(): string {
  return JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8")).version;
}
