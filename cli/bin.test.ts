import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../test/support/until.ts";

const bin = fileURLToPath(new URL("./bin.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "epochflow-bin-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Makes the process think that it is an older Node; what it starts does not inherit that. */
const olderNode = [
  "--import",
  'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.11.1" })',
];

function launch(file: string, nodeOptions: readonly string[], ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, file, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test("gives the command its arguments, and the shell its exit code", () => {
  assert.match(launch(bin, [], "--version").stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(launch(bin, [], "no-such-command").status, 2);
});

test("under an older Node it runs itself again with the package's own", () => {
  assert.match(launch(bin, olderNode, "--version").stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(launch(bin, olderNode, "no-such-command").status, 2);
});

test("what it runs again dies with it", { skip: process.platform === "linux" ? false : "needs /proc" }, async () => {
  const long = ["verify", fileURLToPath(new URL("../examples/word-count.ts", import.meta.url)), "--minutes", "5"];
  const launcher = spawn(process.execPath, [...olderNode, bin, ...long], { stdio: "ignore" });
  const children = `/proc/${launcher.pid}/task/${launcher.pid}/children`;
  let command = 0;
  await until("it has started another process", async () => {
    command = Number(readFileSync(children, "utf8").trim().split(" ")[0]);
    return command > 0;
  });
  launcher.kill("SIGKILL");
  await until("that is gone too", async () => !existsSync(`/proc/${command}`));
});

test("where there is none, it says which Node it needs and how to get it", () => {
  mkdirSync(join(folder, "cli"));
  const alone = join(folder, "cli/bin.mjs");
  copyFileSync(bin, alone);
  const { status, stdout, stderr } = launch(alone, olderNode, "--version");
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /needs Node 24 or newer; this is Node 20\.11\.1/);
  assert.match(stderr, /npm ci/);
  assert.match(stderr, /new project: `npx --package node@24 --package epochflow epochflow init /);
});
