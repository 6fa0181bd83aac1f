/**
 * The documents are read first: what they show must work. TypeScript in them passes the type check, pipelines load, tests in them pass, commands and options exist, links lead somewhere.
 *
 * A block that is part of a module may use all that `epochflow` exports, and what a comment above it declares: `<!-- with: declare const schema: … -->`. One that is not code to be run says so:
 * `<!-- not run: why -->`.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as api from "epochflow";
import { cli } from "./support/cli.ts";
import { temporaryFolder } from "./support/folder.ts";
import { type Block, blocksOf } from "./support/markdown.ts";

const root = new URL("..", import.meta.url);
const path = fileURLToPath(root);
const own = ["*.md", "docs/**/*.md", "examples/**/*.md", "test/**/*.md"];
const documents = globSync(own, { cwd: path }).filter((one) => !/node_modules|docs\/api/.test(one));
const blocks = documents.flatMap((document) => blocksOf(root, document));
const modules = blocks.filter((one) => one.language === "ts" && one.note("not run") === undefined);

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());

const nameOf = ({ document, line }: Block) => `${document}:${line}`;

/** Files of one page lie in one folder, so that they may import each other by the names in their first lines. */
function fileOf({ document, line, text }: Block): string {
  const named = /^\/\/ ([\w./-]+\.ts)\b/.exec(text)?.[1];
  return join(folder.path, document.replace(/\.md$/, ""), named ?? `line-${line}.ts`);
}

/** A whole module, as it is; of a part of one, a module. */
function moduleOf(block: Block): string {
  if (/^import /m.test(block.text)) return `${block.note("with") ?? ""}\n${block.text}`;
  const given = `${block.note("with") ?? ""}\n${block.text}`;
  const used = Object.keys(api).filter((name) => RegExp(`(?<![.\\w])${name}\\b`).test(given));
  const declared = used.filter((name) => !RegExp(`\\b(const|import \\{[^}]*) ${name}\\b`).test(given));
  return `import { ${declared.join(", ")} } from "epochflow";\n${given}\nexport {};\n`;
}

const run = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args, { cwd: folder.path, env: process.env, maxBuffer: 1 << 26 });

before(() => {
  const packages = join(folder.path, "node_modules");
  mkdirSync(packages);
  for (const name of readdirSync(join(path, "node_modules")))
    symlinkSync(join(path, "node_modules", name), join(packages, name));
  symlinkSync(path, join(packages, "epochflow"));
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  const options = JSON.parse(readFileSync(join(path, "tsconfig.json"), "utf8")).compilerOptions;
  const compilerOptions = { ...options, exactOptionalPropertyTypes: false };
  const include = ["**/*.ts", join(path, "shared/**/*.d.ts")];
  writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  for (const block of modules) {
    mkdirSync(dirname(fileOf(block)), { recursive: true });
    writeFileSync(fileOf(block), moduleOf(block));
  }
  symlinkSync(join(path, "examples/postgres"), join(folder.path, "docs/writing-a-sink/postgres"));
});

describe("TypeScript in the documents", () => {
  it("passes the type check", async () => {
    assert.ok(modules.length > 8);
    await run(join(path, "node_modules/.bin/tsc"), "--project", ".").catch(({ stdout }) => assert.fail(stdout));
  });

  for (const block of modules.filter(({ text }) => text.includes("export default pipeline(")))
    it(`is a pipeline that loads: ${nameOf(block)}`, async () => {
      const { code, stderr } = await cli("explain", fileOf(block));
      assert.equal(code, 0, stderr);
    });

  for (const block of modules.filter(({ text }) => text.includes('from "node:test"')))
    it(`is a test that passes: ${nameOf(block)}`, async () => {
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const args = ["--conditions=epochflow-source", "--test", fileOf(block)];
      await promisify(execFile)(process.execPath, args, { env }).catch(({ stdout }) => assert.fail(stdout));
    });
});

/** Lines of commands, joined where they end in a backslash, without comments. */
const commandLines = blocks
  .filter(({ language }) => ["", "sh", "bash"].includes(language))
  .flatMap((block) => block.text.replaceAll("\\\n", " ").split("\n"))
  .map((line) => line.replace(/\s+#.*$/, ""));
const inText = documents.flatMap((document) =>
  [...readFileSync(new URL(document, root), "utf8").matchAll(/`(epochflow [^`\n]+)`/g)].map(([, command]) => command!),
);

describe("commands in the documents", () => {
  it("exist, with their options", async () => {
    const calls = [...commandLines, ...inText].flatMap((line) => {
      const [, words, rest] = /(?:^|npx |\$ )epochflow ([a-z]+(?: \| [a-z]+)*)(.*)$/.exec(line) ?? [];
      return words
        ? words.split(" | ").map((command) => ({ command, options: rest!.match(/--[a-z][a-z-]*/g) ?? [] }))
        : [];
    });
    const byCommand = Map.groupBy(calls, ({ command }) => command);
    assert.ok(byCommand.size > 8);
    for (const [command, found] of byCommand) {
      const { stdout } = await cli(command, "--help");
      assert.match(stdout, RegExp(`^Usage: epochflow ${command}\\b`));
      const unknown = found
        .flatMap(({ options }) => options)
        .filter((option) => !RegExp(`${option}[ ,=]`).test(stdout));
      assert.deepEqual([...new Set(unknown)], [], command);
    }
  });

  it("of npm are scripts of this package", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
    const pages = documents.map((document) => readFileSync(new URL(document, root), "utf8")).join("\n");
    const named = new Set([...pages.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, name]) => name!));
    assert.deepEqual(
      [...named].filter((name) => !Object.hasOwn(scripts, name)),
      [],
    );
  });

  it("README.md has each command, and the options of run", async () => {
    const readme = readFileSync(new URL("README.md", root), "utf8");
    const { stdout } = await cli("--help");
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== "help");
    assert.ok(commands.length > 8);
    const section = /^## The command$(.*?)^## /ms.exec(readme)![1]!;
    assert.deepEqual(
      commands.filter((name) => !RegExp(`\\b${name}\\b`).test(section)),
      [],
    );
  });
});

describe("links in the documents", () => {
  for (const document of documents)
    it(`lead somewhere: ${document}`, () => {
      const page = readFileSync(new URL(document, root), "utf8");
      const targets = page
        .matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)
        .map(([, target]) => join(path, document, "..", target!));
      assert.deepEqual(
        [...targets].filter((target) => !existsSync(target)),
        [],
      );
    });
});
