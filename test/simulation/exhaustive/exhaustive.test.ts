/** A small bound of what `npm run simulate:every` explores. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { epochs, protocol } from "../../model/configurations.ts";
import { type Configuration, configurations } from "./configurations.ts";
import { explore } from "./explore.ts";

/** Any order of records, transactions and deeds is free in them, so that they are too many for a test. */
const large = [
  "A open transactions, crash",
  "A everything, 1 record",
  "B restore over a planned epoch, lane, lost decide",
];

const named = (name: string): Configuration => configurations.find((one) => one.name === name)!;

async function holds(configuration: Configuration, preemptions: number, faults: number): Promise<number> {
  const { failing, isComplete, runs } = await explore(configuration, { preemptions, faults });
  const { violation, taken } = failing?.run ?? {};
  assert.equal(violation, undefined, `${configuration.name}: ${violation?.message}, with:\n${taken?.join("\n")}`);
  assert.ok(isComplete);
  return runs;
}

test("any one fault in each of the model's configurations, on the real code", async (context) => {
  let runs = 0;
  for (const configuration of configurations)
    if (!large.includes(configuration.name)) runs += await holds(configuration, 0, 1);
  context.diagnostic(`${runs} runs`);
});

test("anybody is held up at any step, or wakes too early", async () => {
  for (const name of [
    "A the same, with a crash",
    "A hand-over, retry, zombie, crash",
    "B smaller range after a time-out",
  ])
    await holds(named(name), 1, 0);
});

test("every configuration of the model is one here, but for what the simulated services cannot do", () => {
  const names = configurations.map(({ name }) => name);
  const left = Object.keys(protocol).filter((name) => !names.includes(name));
  assert.deepEqual(left, ["B lane, Kafka loses data", "B lane, ledger from a backup"]);
  for (const name of left) assert.ok(epochs[name]);
});

test("a run that ends where another has been would have ended like it", async () => {
  const configuration = named("B smaller range after a time-out");
  const budget = { preemptions: 1, faults: 0 };
  const [some, all] = [await explore(configuration, budget), await explore(configuration, budget, { isPruned: false })];
  assert.deepEqual([...some.ends].sort(), [...all.ends].sort());
  assert.ok(all.ends.size > 10);
});

for (const [mutant, configuration, invariant] of [
  ["abandoned without fencing the lane", "B lane, abandon", "I4"],
  ["an absent marker is always fine", "B lane, weeks", "I2"],
  ["going idle ignores the wake sequence", "A hand-over", "I7"],
] as const)
  test(`the exploration can fail: ${mutant}`, async () => {
    const command = fileURLToPath(new URL("run.ts", import.meta.url));
    const given = ["--conditions=epochflow-source", command, "--mutant", mutant, "--configuration", configuration];
    const last = await new Promise<string>((resolve) => {
      execFile(process.execPath, given, { maxBuffer: 1 << 24 }, (_, stdout) =>
        resolve(stdout.trim().split("\n").at(-1)!),
      );
    });
    assert.match(last, new RegExp(`^${configuration}.*: ${invariant}: `));
  });
