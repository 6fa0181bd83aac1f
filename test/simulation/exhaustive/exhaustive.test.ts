/** A small bound of what `npm run simulate:every` explores. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { epochs, protocol } from "../../model/configurations.ts";
import { configurations } from "./configurations.ts";
import { explore } from "./explore.ts";

/** In a process of its own: a test's watches every promise. Returns the last line. */
async function simulateEvery(...options: string[]): Promise<string> {
  const command = fileURLToPath(new URL("run.ts", import.meta.url));
  const given = ["--conditions=epochflow-source", command, ...options];
  return await new Promise((resolve) => {
    execFile(process.execPath, given, { maxBuffer: 1 << 24 }, (_, stdout) =>
      resolve(stdout.trim().split("\n").at(-1)!),
    );
  });
}

test("each of the model's configurations holds on the real code, in those of its states that come first", async (context) => {
  const last = await simulateEvery("--preemptions", "1", "--faults", "1", "--states", "600");
  context.diagnostic(last);
  assert.match(last, /no violation$/);
});

test("every configuration of the model is one here, but for what the simulated services cannot do", () => {
  const names = configurations.map(({ name }) => name);
  const left = Object.keys(protocol).filter((name) => !names.includes(name));
  assert.deepEqual(left, ["B lane, Kafka loses data", "B lane, ledger from a backup"]);
  for (const name of left) assert.ok(epochs[name]);
});

test("a run that ends where another has been would have ended like it", async () => {
  const configuration = configurations.find(({ name }) => name === "A the same, with a crash")!;
  const budget = { preemptions: 1, faults: 0 };
  const [some, all] = [await explore(configuration, budget), await explore(configuration, budget, { isPruned: false })];
  assert.deepEqual([...some.ends].sort(), [...all.ends].sort());
  assert.ok(all.ends.size > 10);
});

for (const [mutant, configuration, invariant] of [
  ["abandoned without fencing the lane", "B lane, abandon", "I4"],
  ["an absent marker is always fine", "B lane, weeks", "I2"],
  ["going idle ignores the wake sequence", "A failing commits", "I7"],
] as const)
  test(`the exploration can fail: ${mutant}`, async () => {
    const last = await simulateEvery("--mutant", mutant, "--configuration", configuration);
    assert.match(last, new RegExp(`^${configuration}.*: ${invariant}: `));
  });
