import { readFileSync } from "node:fs";
import { engineManifest } from "./own-package.ts";

export type TemplateName = "files" | "kafka";

interface Manifest {
  name?: string;
  version?: string;
  private?: boolean;
  type?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  engines?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
  [other: string]: unknown;
}

const scriptsOf = (template: TemplateName): Record<string, string> => ({
  start:
    template === "files"
      ? "node generate.ts && epochflow run pipeline.ts && epochflow read out/revenue"
      : "epochflow run pipeline.ts --set brokers=localhost:9092",
  test: "node --test",
  check: `epochflow check pipeline.ts${template === "kafka" ? " --set brokers=localhost:9092" : ""}`,
  verify: "epochflow verify pipeline.ts",
  synth: "cdk synth --quiet",
  deploy: "cdk deploy",
});

/**
 * The version of the Node that npm runs on, where that is too old for the project: `npx --package node@24` brings another for this command alone.
 *
 * @param userAgent `npm_config_user_agent`, such as `npm/10.8.2 node/v20.20.2 linux x64`
 */
export function olderNodeOfNpm(userAgent = ""): string | undefined {
  const version = /\bnode\/v(\d+\S*)/.exec(userAgent)?.[1];
  return version !== undefined && Number.parseInt(version, 10) < 24 ? version : undefined;
}

/** In the versions that this package is tested with. */
const tools = ["@types/node", "aws-cdk", "aws-cdk-lib", "constructs", "esbuild", "typescript"];
/** What `npm init` writes, and nobody wants. */
const emptyTest = 'echo "Error: no test specified" && exit 1';

export interface ManifestOptions {
  readonly template: TemplateName;
  readonly name: string;
  /** How the project gets epochflow: a version, or a file. */
  readonly epochflow: string;
  /** Node comes with the project, since the machine's own is too old. */
  readonly withNode: boolean;
}

/** The text of a new `package.json`, or of the one that is there with what it lacks. What it has stays, but for what `npm init` has put there. */
export function manifestText(before: string | undefined, options: ManifestOptions): string {
  const { template, name, epochflow, withNode } = options;
  const manifest: Manifest = before === undefined ? { name, version: "0.1.0", private: true } : JSON.parse(before);
  const versions = engineManifest().devDependencies;
  const needed = [...tools, ...(withNode ? ["node"] : [])];
  const scripts = { ...manifest.scripts };
  if (scripts.test === emptyTest) delete scripts.test;
  const made: Manifest = {
    ...manifest,
    type: "module",
    scripts: { ...scriptsOf(template), ...scripts },
    dependencies: { epochflow, ...manifest.dependencies },
    devDependencies: {
      ...Object.fromEntries(needed.map((tool) => [tool, versions[tool]!])),
      ...manifest.devDependencies,
    },
    engines: { node: ">=24", ...manifest.engines },
    // npm asks for this before it lets a package's install script run.
    allowScripts: { esbuild: true, ...(withNode && { node: true }), ...manifest.allowScripts },
  };
  return `${JSON.stringify(made, undefined, 2)}\n`;
}

export function readManifest(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
