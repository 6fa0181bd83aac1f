import assert from "node:assert/strict";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { App, Stack } from "aws-cdk-lib";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import { readTree } from "../test/support/folder.ts";
import { StreamPipeline } from "./index.ts";

/** A header of an ELF file, for Linux on x86_64. */
const native = Buffer.alloc(64);
native.write("\x7fELF\x02\x01\x01", "latin1");
native.writeUInt16LE(0x3e, 18);

/** Below the packages, where the bundler finds them. */
const cache = join(import.meta.dirname, "../node_modules/.cache");

test("a native module is deployed only to where it runs", () => {
  mkdirSync(cache, { recursive: true });
  using folder = mkdtempDisposableSync(join(cache, "native-"));
  const project = folder.path;
  const write = (name: string, content: string | Buffer) => writeFileSync(join(project, name), content);
  write("package-lock.json", "");
  write("fast.node", native);
  write("fast.cjs", 'exports.fast = (line) => require("./fast.node").fast(line);');
  write(
    "pipeline.mjs",
    `import { files, pipeline, text } from "epochflow";
     import { fast } from "./fast.cjs";
     export default pipeline("fast").from(files.source({ path: "s3://data/in/", value: text() })).map((line) => fast(line))
       .to(files.sink({ path: "s3://data/out" }), { id: "out" });`,
  );
  const deploy = (architecture: Architecture) => {
    const outdir = join(project, architecture.name);
    const stack = new Stack(new App({ outdir, builtinCloudFormationValidation: false }), "stack");
    new StreamPipeline(stack, "Fast", { entry: join(project, "pipeline.mjs"), architecture });
    return outdir;
  };
  assert.throws(() => deploy(Architecture.ARM_64), {
    code: "native-module",
    message: /fast-\w+\.node.*Linux on arm64/,
  });
  const deployed = [...readTree(deploy(Architecture.X86_64))];
  assert.equal(deployed.filter(([name]) => name.endsWith(".node")).length, 1);
  // What is loaded only where it is needed is in the bundle too: of MSK's signer, and of the client for secrets.
  const [[, bundle] = []] = deployed.filter(([name]) => name.endsWith("index.mjs"));
  for (const part of ["kafka-cluster:Connect", "GetSecretValue"]) assert.ok(bundle?.includes(part), part);
});

test("a connector of one's own is bundled, and the client that it loads where it runs", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "epochflow-bundle-"));
  const stack = new Stack(new App({ outdir: folder.path, builtinCloudFormationValidation: false }), "stack");
  new StreamPipeline(stack, "Words", {
    entry: join(import.meta.dirname, "../examples/postgres/word-counts.ts"),
    parameters: { input: "s3://data/in/", host: "db", database: "shop", user: "alice" },
  });
  const [[name, bundle] = []] = [...readTree(folder.path)].filter(([file]) => file.endsWith("index.mjs"));
  assert.ok(bundle?.includes("SCRAM-SHA-256") && bundle.includes("epochflow.staged"));
  // It loads, as far as it can without what StreamPipeline sets.
  await assert.rejects(import(join(folder.path, name!)), { code: "missing-setting" });
});
