import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { displayPath } from "../../local/paths.ts";
import { UsageError } from "../../shared/errors.ts";
import { manifestText, readManifest, type TemplateName } from "./manifest.ts";
import { ownSpecifier, templatesFolder } from "./own-package.ts";

export interface NewProject {
  readonly folder: string;
  /** Names of what was written. */
  readonly files: readonly string[];
  /** The `package.json` that was there has got what it lacked. */
  readonly completed: boolean;
}

/** npm leaves a `.gitignore` out of packages. */
const targetName = (file: string) => (file === "gitignore" ? ".gitignore" : file);

/**
 * Makes a project in a folder, which may be there: nothing in it is overwritten.
 *
 * @param oldNode version of the machine's Node, where that is too old to run the project
 * @throws UsageError `would-overwrite`, `not-a-folder`
 */
export function makeProject(folder: string, template: TemplateName, oldNode: string | undefined): NewProject {
  const target = resolve(folder);
  if (existsSync(target) && !statSync(target).isDirectory())
    throw new UsageError("not-a-folder", `${displayPath(target)} is a file`, {
      wayOut: "Name a folder that is new, or empty.",
    });
  const sources = ["common", template].map((name) => join(templatesFolder(), name));
  const files = sources.flatMap((source) =>
    readdirSync(source).map((file) => ({ from: join(source, file), to: targetName(file) })),
  );
  const taken = files.map(({ to }) => to).filter((name) => existsSync(join(target, name)));
  if (taken.length > 0)
    throw new UsageError(
      "would-overwrite",
      `${displayPath(target)} has ${taken.join(", ")} already, which would be overwritten`,
      {
        wayOut: "Name a folder that is new or empty: epochflow init my-pipeline.",
      },
    );
  const manifest = join(target, "package.json");
  const before = readManifest(manifest);
  mkdirSync(target, { recursive: true });
  const options = {
    ...{ template, name: packageName(basename(target)), withNode: oldNode !== undefined },
    // What npm has noted has no links in it.
    epochflow: ownSpecifier(realpathSync(target)),
  };
  const text = manifestText(before, options);
  for (const { from, to } of files) writeFileSync(join(target, to), readFileSync(from), { flag: "wx" });
  writeFileSync(manifest, text);
  return {
    folder: target,
    files: [...files.map(({ to }) => to), "package.json"].sort(),
    completed: before !== undefined,
  };
}

/** As npm allows it. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" ? "my-pipeline" : name;
}
