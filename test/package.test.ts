/** What `npm pack` makes, used as a stranger would: an empty folder, `npm init`, `npm install`, a pipeline, `npx epochflow run`. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "epochflow-package-"));
const app = join(folder, "app");
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The Node that runs this test comes first, and nothing that `npm test` itself set may reach the other project; but what the machine says of its network may, such
 * as the certificates it trusts.
 */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_(?!EXTRA_CA_CERTS|USE_))/i.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

async function run(cwd: string, command: string, ...args: string[]) {
  return await runWith({}, cwd, command, ...args);
}

async function runWith(more: Record<string, string>, cwd: string, command: string, ...args: string[]) {
  return await promisify(execFile)(command, args, { cwd, env: { ...environment, ...more }, maxBuffer: 1 << 26 });
}

const pipeline = `
import { count, files, parameter, pipeline, seconds, text, tumbling } from "epochflow";
import { wordsOf } from "./words.mts";

export default pipeline("words")
  .from(files.source({ path: parameter("input"), value: text(), timestamp: (line) => Number.parseInt(line, 10) }))
  .flatMap(wordsOf)
  .keyBy((word) => word)
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
  .to(files.sink({ path: "out" }), { id: "counts" });

export const sample = ["1000\\ta b", "2000\\tb", "12000\\ta"];
`;

/** Paths in the package. */
let packed: string[];
/** The package itself. */
let tarball: string;

before(async () => {
  const { stdout } = await run(root, "npm", "pack", "--json", "--pack-destination", folder);
  // \`prepack\` may print before it.
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
  packed = files.map((file: { path: string }) => file.path);
  tarball = join(folder, filename);
  mkdirSync(app);
  await run(app, "npm", "init", "-y");
  await run(app, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", tarball);
  writeFileSync(join(app, "pipeline.ts"), pipeline);
  writeFileSync(
    join(app, "words.mts"),
    'export const wordsOf = (line: string): string[] => line.split("\\t")[1]!.split(" ");\n',
  );
  writeFileSync(join(app, "lines.tsv"), "1000\ta b a\n2000\tb a\n12000\ta\n");
});

test("who has the package alone has the pages of the documentation, and the sink that is there to be copied", () => {
  for (const folder of ["docs", "examples/postgres"]) {
    const there = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isFile());
    const missing = there.map(({ name }) => `${folder}/${name}`).filter((path) => !packed.includes(path));
    assert.deepEqual(missing, []);
  }
});

test("holds the compiled engine and what belongs to it, and nothing else", () => {
  const expected =
    /^(package\.json|README\.md|LICENSE|docs\/([a-z]+\/)?[\w.-]+\.(md|png|svg)|examples\/postgres\/[\w-]+\.ts|cli\/bin\.mjs|cli\/templates\/\w+\/[\w.]+|dist\/(?!.*\.test\.).+\.(js|d\.ts|json)|dist\/local\/watch\/page\/client\/(index\.html|page\.css|icon\.svg))$/;
  assert.deepEqual(
    packed.filter((path) => !expected.test(path)),
    [],
  );
  const code = ["statemachines/checkpoint.asl.json", "shared/index.d.ts", "functions/index.js"];
  for (const path of ["LICENSE", "README.md", ...code.map((file) => `dist/${file}`)])
    assert.ok(packed.includes(path), path);
});

test("exports what bundlers, Node and TypeScript resolve", async () => {
  const bin = join(root, "node_modules/.bin");
  await run(folder, join(bin, "publint"), "run", tarball, "--strict");
  await run(folder, join(bin, "attw"), tarball, "--profile", "esm-only");
});

test("runs a TypeScript pipeline from outside node_modules, in worker threads too", async () => {
  await run(app, "npx", "epochflow", "run", "pipeline.ts", "--set", "input=lines.tsv", "--parallelism", "2");
  const { stdout } = await run(app, "npx", "epochflow", "read", "out");
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.sort((one, other) => one.windowStart - other.windowStart || (one.word < other.word ? -1 : 1)),
    [
      { word: "a", windowStart: 0, count: 3 },
      { word: "b", windowStart: 0, count: 2 },
      { word: "a", windowStart: 10_000, count: 1 },
    ],
  );
});

test("serves the page of a run", async () => {
  rmSync(join(app, "out"), { recursive: true, force: true }); // it belongs to the state of another run
  const args = [
    "node_modules/.bin/epochflow",
    "run",
    "pipeline.ts",
    "--set",
    "input=lines.tsv",
    "--state",
    "shown",
    "--follow",
    "--ui",
    "0",
  ];
  // Not by npx: a signal that comes early ends that alone.
  const child = spawn(process.execPath, args, { cwd: app, env: environment, stdio: ["ignore", "ignore", "pipe"] });
  try {
    let said = "";
    for await (const chunk of child.stderr.setEncoding("utf8")) {
      said += chunk;
      if (/page: http\S+\s/.test(said)) break;
    }
    const [url] = /http:\S+/.exec(said)!;
    const get = async (path: string) => await (await fetch(url + path)).text();
    assert.match(await get("/"), /<title>epochflow<\/title>/);
    assert.match(await get("/page.css"), /prefers-color-scheme: dark/);
    // Every module that a module imports is there, too.
    const seen = new Set<string>();
    const load = async (path: string): Promise<void> => {
      if (seen.has(path)) return;
      seen.add(path);
      const imports = (await get(path)).matchAll(/^(?:import|} from).*"(\.[^"]+)";$/gm);
      for (const [, name] of imports) await load(new URL(name!, url + path).pathname);
    };
    await load("/watch/page/client/main.js");
    assert.ok(seen.has("/format.js") && seen.size > 10, [...seen].join());
  } finally {
    child.kill("SIGTERM");
  }
});

test("verifies a pipeline under simulated faults", async () => {
  const { stdout } = await run(app, "npx", "epochflow", "verify", "pipeline.ts", "--seeds", "2");
  assert.match(stdout, /: no violation in 2 runs\n$/);
});

test("runs a pipeline from a program", async () => {
  const program = `
    import { readRows, run } from "epochflow/local";
    import "./words.mts"; // it is loaded before there are hooks that note the pipeline's code
    const { outcome, outputs } = await run("pipeline.ts", { parameters: { input: "lines.tsv" }, state: "other-state" });
    let rows = 0;
    for await (const _ of readRows("out")) rows++;
    console.log(outcome, Object.keys(outputs), rows);`;
  rmSync(join(app, "out"), { recursive: true, force: true });
  writeFileSync(join(app, "program.mjs"), program);
  const { stdout } = await run(app, "node", "program.mjs");
  assert.equal(stdout, "done [ 'counts' ] 3\n");
});

test("has declarations that TypeScript takes, strictly", async () => {
  const wrong = pipeline.replace("(word) => word", "(word) => ({ word })");
  writeFileSync(join(app, "wrong.ts"), wrong);
  const nodeTypes = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--allowImportingTsExtensions", ...nodeTypes];
  const check = (file: string) => run(app, join(root, "node_modules/.bin/tsc"), ...options, file);
  await check("pipeline.ts");
  await assert.rejects(check("wrong.ts"), (error: { stdout: string }) => /wrong\.ts.*Key/s.test(error.stdout));
});

/** The files that docs/deploy.md shows, in a folder below `app`, which gets the packages that it names beside epochflow. */
function deployedProject(): string {
  const packages = ["aws-cdk-lib", "constructs", "esbuild", "@types", "aws-msk-iam-sasl-signer-js"];
  for (const name of packages) {
    rmSync(join(app, "node_modules", name), { recursive: true, force: true });
    symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name));
  }
  const project = join(app, "words");
  const shown = /```(?:ts|json)\n\/\/ ([\w./-]+)[^\n]*\n(.*?)```/gs;
  for (const [, name, text] of readFileSync(join(root, "docs/deploy.md"), "utf8").matchAll(shown)) {
    mkdirSync(dirname(join(project, name!)), { recursive: true });
    writeFileSync(join(project, name!), text!);
  }
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "package-lock.json"), "{}");
  return project;
}

test("the project of docs/deploy.md passes the type check, and synthesizes", async () => {
  const project = deployedProject();
  const synth = {
    CDK_OUTDIR: "out",
    CDK_DEFAULT_ACCOUNT: "111122223333",
    CDK_DEFAULT_REGION: "eu-west-1",
    CDK_CONTEXT_JSON: '{ "aws:cdk:bundling-stacks": [] }',
  };
  await Promise.all([
    run(project, join(root, "node_modules/.bin/tsc"), "--project", "."),
    runWith(synth, project, "node", "app.ts"),
  ]);
  const template = readFileSync(join(project, "out/word-count.template.json"), "utf8");
  for (const type of ["AWS::Lambda::EventSourceMapping", "AWS::StepFunctions::StateMachine", "AWS::EC2::VPCEndpoint"])
    assert.ok(template.includes(`"${type}"`), type);
});

for (const template of ["files", "kafka"])
  test(`init makes a project of ${template}, which runs as it is, by the very package`, async () => {
    const project = join(folder, `shop-${template}`);
    const made = await run(app, "npx", "epochflow", "init", project, "--template", template);
    assert.match(made.stderr, /npm install\n {2}npm test\n {2}npm start/);
    await run(project, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund");
    assert.match((await run(project, "npm", "test")).stdout, /^ℹ pass 2$/m);
    await run(project, "npx", "tsc");
    await run(project, "npm", "run", "verify", "--", "--seeds", "1");
    await run(project, "npm", "run", "synth");
    const stack = readFileSync(join(project, "cdk.out/orders.template.json"), "utf8");
    assert.match(stack, /AWS::StepFunctions::StateMachine/);
    const again = run(app, "npx", "epochflow", "init", project);
    await assert.rejects(again, (error: { stderr: string }) => /pipeline\.ts already/.test(error.stderr));
    if (template === "kafka") return;

    const { stdout, stderr } = await run(project, "npm", "start");
    assert.match(stderr, /20,000 records/);
    assert.match(stderr, /20 dead-lettered/);
    const rows = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    assert.equal(
      rows.reduce((sum, { orders }) => sum + orders, 0),
      19_980,
    );
    assert.match((await run(project, "npm", "run", "check")).stdout, /Nothing is wrong\./);

    // As the README says: mend, replay, run again.
    const order = join(project, "order.ts");
    const mended = readFileSync(order, "utf8")
      .replace("isSafeInteger(cents)", "isSafeInteger(Number(cents))")
      .replace("cents: cents!", "cents: Number(cents)");
    writeFileSync(order, mended);
    await run(project, "npx", "tsc");
    await run(project, "npx", "epochflow", "replay", "pipeline.ts", "--yes");
    const corrected = await run(project, "npm", "start");
    const newest = new Map<string, number>();
    for (const line of corrected.stdout.split("\n").filter((one) => one.startsWith("{"))) {
      const { country, minute, orders } = JSON.parse(line);
      newest.set(`${country} ${minute}`, orders);
    }
    assert.equal(
      [...newest.values()].reduce((sum, orders) => sum + orders, 0),
      20_000,
    );
  });
