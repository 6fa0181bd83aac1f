import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { UsageError } from "../shared/errors.ts";
import { loadPipeline } from "./load.ts";

const root = mkdtempSync(join(tmpdir(), "epochflow-load-"));
after(() => rmSync(root, { recursive: true, force: true }));

const wordCount = `import { pipeline, files, text } from "epochflow";
import { upper } from "./upper.ts";
export default pipeline("words").from(files.source({ path: "in", value: text() })).map(upper).to(files.sink({ path: "out" }));
`;
const upper = "export const upper = (text: string): string => text.toUpperCase();\n";

let folders = 0;

/** A new folder with these files; gives the path of the first. */
function folderOf(files: Record<string, string>): string {
  const folder = join(root, String(folders++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return join(folder, Object.keys(files)[0]!);
}

async function failure(path: string | URL): Promise<UsageError> {
  const error = await loadPipeline(path).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof UsageError, `${error} is no usage error`);
  return error;
}

test("a module's default export is the pipeline, whether named by path or by URL", async () => {
  const path = folderOf({ "pipeline.ts": wordCount, "upper.ts": upper });
  const { topology, codeDigest, url } = await loadPipeline(path);
  assert.equal(topology.name, "words");
  assert.match(codeDigest, /^[0-9a-f]{64}$/);
  assert.equal(url, pathToFileURL(path).href);
  for (const again of [url, new URL(url)]) assert.equal((await loadPipeline(again)).codeDigest, codeDigest);
});

test("a symbolic link leads to the same module", async () => {
  const path = folderOf({ "pipeline.ts": wordCount, "upper.ts": upper });
  symlinkSync(path, `${path}.link.ts`);
  assert.equal((await loadPipeline(`${path}.link.ts`)).url, pathToFileURL(path).href);
});

test("the code digest follows contents, not places", async () => {
  const path = folderOf({ "a/pipeline.ts": wordCount, "a/upper.ts": upper });
  cpSync(join(path, ".."), join(path, "../../b"), { recursive: true });
  const { codeDigest } = await loadPipeline(path);
  assert.equal((await loadPipeline(join(path, "../../b/pipeline.ts"))).codeDigest, codeDigest);
});

test("the code digest covers what the module imports, at any depth, and CommonJS", async () => {
  const files = (depth: string, common: string) => ({
    "pipeline.ts": wordCount,
    "upper.ts": `import { createRequire } from "node:module";\nimport "./deep.ts";\ncreateRequire(import.meta.url)("./common.cjs");\n${upper}`,
    "deep.ts": depth,
    "common.cjs": common,
  });
  const digestOf = async (...contents: [string, string]) =>
    (await loadPipeline(folderOf(files(...contents)))).codeDigest;
  const before = await digestOf("export {};", "");
  assert.equal(await digestOf("export {};", ""), before);
  assert.notEqual(await digestOf("export const x = 1;", ""), before);
  assert.notEqual(await digestOf("export {};", "exports.x = 1;"), before);
});

test("the code digest leaves packages out", async () => {
  const files = (version: string) => ({
    "pipeline.ts": wordCount,
    "upper.ts": `import "some-package";\n${upper}`,
    "node_modules/some-package/index.js": `export default ${version};`,
    "node_modules/some-package/package.json": `{ "type": "module", "exports": "./index.js" }`,
  });
  const before = (await loadPipeline(folderOf(files("1")))).codeDigest;
  assert.equal((await loadPipeline(folderOf(files("2")))).codeDigest, before);
});

test("of two pipelines that share a file, each one's code digest covers it", async () => {
  const path = folderOf({ "one.ts": wordCount, "upper.ts": upper, "two.ts": wordCount });
  const one = await loadPipeline(path);
  assert.equal((await loadPipeline(join(path, "../two.ts"))).codeDigest, one.codeDigest);
});

test("the code digest is the same where the module was imported before the hooks were there", async () => {
  const path = folderOf({ "pipeline.ts": wordCount, "upper.ts": upper });
  const { codeDigest, url } = await loadPipeline(path);
  const load = new URL("./load.ts", import.meta.url).href;
  const upperUrl = pathToFileURL(join(path, "../upper.ts")).href;
  const code = `
    await import(${JSON.stringify(upperUrl)});
    const { loadPipeline } = await import(${JSON.stringify(load)});
    const { codeDigest } = await loadPipeline(${JSON.stringify(url)});
    (await import("node:worker_threads")).parentPort.postMessage(codeDigest);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const digest = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.equal(digest, codeDigest);
});

test("a file that is not there: the nearest one is named", async () => {
  const path = folderOf({ "word-count.ts": wordCount, "upper.ts": upper });
  const error = await failure(path.replace("word-count", "wordcount"));
  assert.equal(error.code, "no-such-file");
  assert.match(error.message, /There is no file .*wordcount\.ts\. Did you mean ".*word-count\.ts"\?/);
});

test("a folder that is not there: the nearest one is named", async () => {
  const path = folderOf({ "examples/word-count.ts": wordCount });
  const error = await failure(path.replace("examples", "exmples"));
  assert.match(error.message, /Did you mean ".*examples\/word-count\.ts"\?/);
});

test("a folder: its modules are named", async () => {
  const path = folderOf({ "one.ts": wordCount, "two.mjs": "", "notes.md": "" });
  const error = await failure(join(path, ".."));
  assert.match(`${error.message} ${error.wayOut}`, /is a folder.* it holds one\.ts, two\.mjs\./);
});

const broken: [what: string, files: Record<string, string>, file: string, line: number, message: RegExp][] = [
  [
    "TypeScript that cannot be read",
    { "p.ts": "\nconst = 1;\n" },
    "p.ts",
    2,
    /Cannot load .*Expression expected|Cannot load/,
  ],
  ["JavaScript that cannot be read", { "p.mjs": "\n\nconst = 1;\n" }, "p.mjs", 3, /Cannot load .*Unexpected token/],
  ["syntax that is more than types", { "p.ts": "enum A { B }\n" }, "p.ts", 1, /enum is not supported/],
  [
    "a broken file that it imports",
    { "p.ts": 'import "./q.mjs";\n', "q.mjs": "const = 1;" },
    "q.mjs",
    1,
    /Unexpected token/,
  ],
  [
    "a missing file",
    { "p.ts": '// x\nimport "./uper.ts";', "upper.ts": "" },
    "p.ts",
    2,
    /no module "\.\/uper\.ts"\. Did you mean "\.\/upper\.ts"\?/,
  ],
  [
    "an import without extension",
    { "p.ts": 'import "./upper";', "upper.ts": "" },
    "p.ts",
    1,
    /Did you mean "\.\/upper\.ts"\?/,
  ],
  ["a missing package", { "p.ts": 'import "surely-not-there";' }, "p.ts", 1, /There is no package "surely-not-there"/],
  [
    "a missing export",
    { "p.ts": 'import { a } from "./q.ts";\na;', "q.ts": "" },
    "p.ts",
    1,
    /does not provide an export named 'a'/,
  ],
  ["a throw", { "p.ts": '\n\nthrow new TypeError("boom");' }, "p.ts", 3, /threw while it was loaded: TypeError: boom/],
  [
    "a throw in CommonJS",
    { "p.ts": 'import "./q.cjs";', "q.cjs": "\nnull.x;" },
    "q.cjs",
    2,
    /threw while it was loaded: TypeError/,
  ],
  [
    "a wrong call of the DSL",
    { "p.ts": 'import { pipeline } from "epochflow";\nexport default pipeline("no name");' },
    "p.ts",
    2,
    /no name/,
  ],
];
for (const [what, files, file, line, message] of broken) {
  test(`${what}: file and line are named`, async () => {
    const path = folderOf(files);
    const error = await failure(path);
    assert.match(error.message, message);
    assert.deepEqual({ file: error.place.file, line: error.place.line }, { file: join(path, "..", file), line });
  });
}

test("syntax that is more than types has a way out", async () => {
  assert.match(
    (await failure(folderOf({ "p.ts": "enum A { B }\n" }))).wayOut ?? "",
    /constant object instead of an enum/,
  );
});

test("neither TypeScript nor JavaScript", async () => {
  assert.match((await failure(folderOf({ "notes.json": "{}" }))).message, /neither TypeScript nor JavaScript/);
  assert.match((await failure(folderOf({ "notes.md": "hello" }))).message, /neither TypeScript nor JavaScript/);
});

test("without a default export, a pipeline that is exported by name is pointed out", async () => {
  const named = wordCount.replace("export default", "export const words =");
  const error = await failure(folderOf({ "p.ts": named, "upper.ts": upper }));
  assert.equal(error.code, "no-pipeline");
  assert.match(`${error.message} ${error.wayOut}`, /has no default export.* `export default words;`/);
});

for (const [text, kind] of Object.entries({
  "() => 1": "a function",
  "{}": "an object",
  null: "null",
  "Promise.resolve()": "a promise",
})) {
  test(`a default export that is ${kind} is no pipeline`, async () => {
    const error = await failure(folderOf({ "p.ts": `export default ${text};` }));
    assert.ok(error.message.includes(`exports ${kind} as its default, not a pipeline`), error.message);
  });
}
