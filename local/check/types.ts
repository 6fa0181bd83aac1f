import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { finding } from "../../shared/finding.ts";
import { displayPath } from "../paths.ts";
import type { CheckReport } from "./report.ts";

const topic = "types";
const mostShown = 20;

interface Compiler {
  readonly tsc: string;
  readonly version: string;
}

/**
 * Has the user's own TypeScript look at the module, by the user's tsconfig.json if that has the module, else strictly.
 *
 * @param files that the pipeline consists of; of others nothing is said. Empty: nobody knows
 */
export async function checkTypes(report: CheckReport, module: string, files: readonly string[]): Promise<void> {
  if (!/\.[cm]?tsx?$/.test(module)) return report.note(topic, "not checked: the module is JavaScript");
  const compiler = compilerFor(module);
  if (compiler === undefined)
    return report.note(topic, "not checked: TypeScript is not installed here (npm install --save-dev typescript)");
  const problems = await problemsOf(compiler, module, new Set(files));
  for (const { message, file, line } of problems.slice(0, mostShown))
    report.add(
      topic,
      finding("error", "type-error", message, "The pipeline may run all the same; but mend it first.", { file, line }),
    );
  if (problems.length > mostShown) report.note(topic, `and ${problems.length - mostShown} more errors`);
  if (problems.length === 0) report.note(topic, `checked by TypeScript ${compiler.version}`);
}

function compilerFor(module: string): Compiler | undefined {
  try {
    const require = createRequire(pathToFileURL(module));
    const manifest = require.resolve("typescript/package.json");
    const { version, bin } = require(manifest) as { version: string; bin: Readonly<Record<string, string>> };
    return bin.tsc === undefined ? undefined : { tsc: join(dirname(manifest), bin.tsc), version };
  } catch {
    return undefined;
  }
}

interface TypeProblem {
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

async function problemsOf(compiler: Compiler, module: string, files: ReadonlySet<string>): Promise<TypeProblem[]> {
  const project = projectOf(module);
  if (project !== undefined) {
    const output = await run(compiler, ["--project", project, "--noEmit", "--listFiles"], dirname(project));
    if (output.split("\n").includes(module)) return parse(output, dirname(project), files);
  }
  const alone = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "esnext",
    "--allowImportingTsExtensions",
    "--skipLibCheck",
  ];
  // Since version 6 it must be told that files are meant instead of a project.
  const ignored = Number.parseInt(compiler.version, 10) >= 6 ? ["--ignoreConfig"] : [];
  return parse(await run(compiler, [...alone, ...ignored, module], dirname(module)), dirname(module), files);
}

function projectOf(module: string): string | undefined {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    const file = join(folder, "tsconfig.json");
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

function run({ tsc }: Compiler, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [tsc, ...args, "--pretty", "false"], { cwd, maxBuffer: 1 << 28 }, (_, stdout) =>
      done(stdout),
    );
  });
}

function parse(output: string, folder: string, files: ReadonlySet<string>): TypeProblem[] {
  const found = [...output.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+: .*(?:\n {2}.*)*)/gm)];
  return found.flatMap(([, name, line, message]) => {
    const file = resolve(folder, name!);
    if (files.size > 0 && !files.has(file)) return [];
    return [{ message: message!, file: displayPath(file), line: Number(line) }];
  });
}
