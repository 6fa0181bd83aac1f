import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Stack } from "aws-cdk-lib";
import { type NodejsFunctionProps, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Construct } from "constructs";
import type { functionsOf } from "../functions/index.ts";
import { entryUrl, runsFromSources } from "../local/package-files.ts";
import { UsageError } from "../shared/errors.ts";

/** Of the handlers. Written down here, so that the declarations of the package do without those of Lambda. */
export const functionNames = [
  "trigger",
  "plan",
  "fused",
  "operate",
  "decide",
  "commit",
  "abort",
  "collect",
] as const satisfies readonly (keyof ReturnType<typeof functionsOf>)[];

export type FunctionName = (typeof functionNames)[number];

const functionsModule = fileURLToPath(entryUrl("functions/index"));
const lockFiles = ["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"];

/**
 * How the one file is made that all functions of a pipeline share: its entry is a stub, which gives the pipeline to the handlers. The AWS SDK is in it, so that what
 * runs is what was tested.
 *
 * @throws UsageError `no-lock-file`, `missing-package`
 */
export function bundleOf(scope: Construct, entry: string): NodejsFunctionProps {
  const depsLockFilePath = lockFileOf(resolve(entry));
  if (Stack.of(scope).bundlingRequired) checkBundler(depsLockFilePath);
  return {
    entry: writeStub(dirname(depsLockFilePath), resolve(entry)),
    depsLockFilePath,
    bundling: {
      format: OutputFormat.ESM,
      mainFields: ["module", "main"],
      minify: true,
      keepNames: true,
      externalModules: [],
      // Native modules lie beside the bundle; whether they run there is checked afterwards.
      loader: { ".node": "copy" },
      // Packages that are no ES modules call it.
      banner: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      esbuildArgs: { "--conditions": runsFromSources ? "epochflow-source,module" : "module" },
    },
  };
}

/** Named by what is in it, so that two apps of a project can be synthesized at once. Among what the project's tools keep, since esbuild wants an entry within the project. */
function writeStub(project: string, entry: string): string {
  const lines = [
    `import { functionsOf } from ${JSON.stringify(functionsModule)};`,
    `import pipeline from ${JSON.stringify(entry)};`,
    `export const { ${functionNames.join(", ")} } = functionsOf(pipeline, import.meta.url);`,
  ];
  const text = lines.join("\n");
  const folder = join(project, "node_modules", ".cache", "epochflow");
  const file = join(folder, `${createHash("sha256").update(text).digest("hex").slice(0, 32)}.ts`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Without it the CDK would want Docker, in which the files of this machine are not. */
function checkBundler(lockFile: string): void {
  try {
    createRequire(lockFile).resolve("esbuild");
  } catch (cause) {
    throw new UsageError("missing-package", `The functions are bundled by esbuild, which ${dirname(lockFile)} lacks`, {
      wayOut: "Install it: npm install --save-dev esbuild",
      cause,
    });
  }
}

/** The nearest one above the pipeline: the project is where it lies. */
function lockFileOf(entry: string): string {
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    const found = lockFiles.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found) return found;
    if (dirname(folder) !== folder) continue;
    throw new UsageError("no-lock-file", `No lock file lies above ${entry}`, {
      wayOut: `Install the project's packages with npm, pnpm, yarn or bun: ${lockFiles.join(", ")}.`,
    });
  }
}
