import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const folder = mkdtempSync(join(tmpdir(), "epochflow-self-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const hook = new URL("./self-reference.ts", import.meta.url).href;
const pipeline = join(folder, "pipeline.mts");
writeFileSync(pipeline, `export { parameter } from "epochflow";\nexport { run } from "epochflow/local";\n`);

test("a pipeline outside of the clone gets the engine that runs it", async () => {
  await import(hook);
  const engine = await import("../shared/index.ts");
  const { parameter } = await import(pathToFileURL(pipeline).href);
  assert.equal(parameter, engine.parameter);
});

test("so it does in a worker thread that imports the hook itself", async () => {
  const code = `
    await import(${JSON.stringify(hook)});
    const mine = await import(${JSON.stringify(pathToFileURL(pipeline).href)});
    const engine = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
    (await import("node:worker_threads")).parentPort.postMessage(mine.run === engine.run);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const same = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.equal(same, true);
});

test("other specifiers are left alone", async () => {
  await import(hook);
  await assert.rejects(import(`epochflow${"-nothing"}`), { code: "ERR_MODULE_NOT_FOUND" });
});
