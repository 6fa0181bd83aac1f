/** README.md is read first: what it shows must work. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { cli } from "./support/cli.ts";
import { temporaryFolder } from "./support/folder.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/protocol.md",
  "docs/deploy.md",
  "docs/watching.md",
  "docs/dependencies.md",
  "test/model/README.md",
];
const readme = readFileSync(join(root, "README.md"), "utf8");

describe("README.md", () => {
  it("shows a pipeline that loads", async () => {
    using folder = temporaryFolder();
    const module = join(folder.path, "pipeline.ts");
    writeFileSync(module, /```ts\n(.*?)```/s.exec(readme)![1]!);
    const { code, stderr, stdout } = await cli("explain", module);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /status-by-hour/);
  });

  it("names only commands and options that there are", async () => {
    const commands = [
      ...new Set(readme.matchAll(/^epochflow ([a-z|\s]+?) (?:\[|[A-Z])/gm).flatMap(([, names]) => names!.split(" | "))),
    ];
    assert.ok(commands.length > 5);
    const helps = await Promise.all(commands.map((command) => cli(command, "--help")));
    for (const [index, help] of helps.entries())
      assert.match(help.stdout, RegExp(`^Usage: epochflow ${commands[index]} `));
    const known = helps.map((help) => help.stdout).join("\n");
    const options = new Set(readme.match(/--[a-z][a-z-]*/g));
    assert.deepEqual(
      [...options].filter((option) => !known.includes(`${option} `)),
      [],
    );
  });
});

describe("docs/deploy.md", () => {
  it("names only commands and options that there are", async () => {
    const calls = readFileSync(join(root, "docs/deploy.md"), "utf8").matchAll(
      /epochflow ([a-z]+)( [^`\n#]*--[^`\n#]*)/g,
    );
    const byCommand = Map.groupBy(calls, ([, command]) => command!);
    assert.ok(byCommand.size > 5);
    for (const [command, found] of byCommand) {
      const { stdout } = await cli(command, "--help");
      const options = new Set(found.flatMap(([, , rest]) => rest!.match(/--[a-z-]+/g) ?? []));
      assert.deepEqual(
        [...options].filter((option) => !stdout.includes(`${option} `)),
        [],
        command,
      );
    }
  });
});

describe("links in the documentation", () => {
  for (const document of documents)
    it(`lead somewhere: ${document}`, () => {
      const text = readFileSync(join(root, document), "utf8");
      const targets = text
        .matchAll(/\]\((?!https?:|#)([^)#]+)/g)
        .map(([, target]) => join(root, document, "..", target!));
      assert.deepEqual(
        [...targets].filter((target) => !existsSync(target)),
        [],
      );
    });
});
