import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../local/package-files.ts";

const root = fileURLToPath(packageRoot);

export const templatesFolder = (): string => join(root, "cli/templates");

export function engineManifest(): {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
} {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/**
 * How another project gets this very package: from the file that it was installed from, from the clone, or by its version from the registry.
 *
 * @param project folder of the other project
 */
export function ownSpecifier(project: string): string {
  const modules = dirname(root);
  if (!modules.endsWith("node_modules")) return fileSpecifier(project, root);
  const resolved = resolvedIn(modules);
  if (resolved?.startsWith("file:")) {
    const file = resolve(dirname(modules), resolved.slice("file:".length));
    if (existsSync(file)) return fileSpecifier(project, file);
  }
  return engineManifest().version;
}

const fileSpecifier = (project: string, file: string) => `file:${relative(project, file) || "."}`;

/** What npm notes of an installation. */
function resolvedIn(modules: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    return packages["node_modules/epochflow"]?.resolved;
  } catch {
    return undefined;
  }
}
