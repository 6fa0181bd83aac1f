/**
 * The whole process is killed again and again, at random moments, and started again. What it has written in the end is what a process writes that nobody
 * disturbs (I1 to I6). `EPOCHFLOW_TEST_SEED` gives the same moments again, as far as time allows.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { RunOptions } from "../local/options.ts";
import {
  evaluateLog,
  expectedOfSample,
  missingSample,
  module,
  readLines,
  sampleInput,
  writeLog,
} from "./support/access-log.ts";
import { cli, type Started, startCli, startNode } from "./support/cli.ts";
import type { Drive } from "./support/driver.ts";
import { differences, temporaryFolder } from "./support/folder.ts";
import { leftovers, readOutput } from "./support/inspect.ts";
import { type KillLoop, killLoop } from "./support/kill-loop.ts";
import { seededRandom } from "./support/seed.ts";

const driver = fileURLToPath(new URL("support/driver.ts", import.meta.url));

/** Folders of a run, and how to start it. */
interface Place {
  readonly output: string;
  readonly state: string;
  start(seed: number): Started;
}

function byCli(folder: string, input: string, ...options: string[]): Place {
  const output = join(folder, "out");
  const state = join(folder, "state");
  const set = ["--set", `input=${input}`, "--set", `output=${output}`, "--state", state];
  return { output, state, start: () => startCli(["run", module, ...set, ...options]) };
}

/** With task counts by chance, which the program has no option for. */
function byDriver(folder: string, input: string, options: RunOptions): Place {
  const output = join(folder, "out");
  const state = join(folder, "state");
  const all = { ...options, state, parameters: { input, output } };
  const drive = (seed: number): Drive => ({ module, options: all, seed });
  return { output, state, start: (seed) => startNode([driver, JSON.stringify(drive(seed))]) };
}

async function killed(
  context: TestContext,
  { start, state, output }: Place,
  how: Pick<KillLoop, "kills" | "epochsALife">,
): Promise<void> {
  const random = seededRandom(context);
  const loop = { ...how, state, random, start: () => start(random.below(2 ** 31)) };
  const { last, kills, killsAfterProgress } = await killLoop(loop);
  assert.equal(last.code, 0, last.stderr);
  assert.ok(killsAfterProgress >= how.kills, `it was over after ${killsAfterProgress} kills: take more input`);
  context.diagnostic(`killed ${kills} times`);
  assert.deepEqual(await leftovers(state, [output]), []);
}

async function undisturbed({ start }: Place): Promise<void> {
  const { code, stderr } = await start(1).finished;
  assert.equal(code, 0, stderr);
}

async function read({ output }: Place): Promise<string> {
  const { code, stdout, stderr } = await cli("read", output);
  assert.equal(code, 0, stderr);
  return stdout;
}

const rows = (text: string): string[] => text.trimEnd().split("\n").sort();

/** The sample, or a generated log where it is missing. */
function writeInput(folder: string): { input: string; expected: string[] } {
  const input = join(folder, "access.log");
  if (missingSample) return { input, expected: evaluateLog(writeLog(input, { lines: 10_000, seed: 5, days: 3 })) };
  writeFileSync(input, `${readLines(sampleInput).join("\n")}\n`);
  return { input, expected: expectedOfSample().sort() };
}

describe("a process that is killed", { concurrency: 2 }, () => {
  it("writes the same files and manifests, byte for byte", async (context) => {
    using folder = temporaryFolder();
    const { input, expected } = writeInput(folder.path);
    const options = ["--epoch-records", "20"];
    const place = byCli(join(folder.path, "killed"), input, ...options);
    await killed(context, place, { kills: 30, epochsALife: 8 });
    const whole = byCli(join(folder.path, "whole"), input, ...options);
    await undisturbed(whole);
    assert.deepEqual(differences(readOutput(place.output), readOutput(whole.output)), []);
    assert.deepEqual(rows(await read(place)), expected);
  });

  it("prints the same bytes with from 1 to 4 tasks, by chance, in each stage of each epoch (I6)", async (context) => {
    using folder = temporaryFolder();
    const { input, expected } = writeInput(folder.path);
    const options = { epochRecords: 100, parallelism: 2 };
    const place = byDriver(join(folder.path, "killed"), input, options);
    await killed(context, place, { kills: 12, epochsALife: 4 });
    const whole = byDriver(join(folder.path, "whole"), input, options);
    await undisturbed(whole);
    const fused = byCli(join(folder.path, "fused"), input, "--epoch-records", "100", "--parallelism", "1");
    await undisturbed(fused);
    const text = await read(fused);
    assert.equal(await read(whole), text);
    assert.equal(await read(place), text);
    assert.deepEqual(rows(text), expected);
  });

  it("gives the same rows with epochs that are cut by time, and shuffled", async (context) => {
    using folder = temporaryFolder();
    const input = join(folder.path, "access.log");
    const expected = evaluateLog(writeLog(input, { lines: 150_000, seed: 3, days: 3 }));
    const place = byCli(join(folder.path, "killed"), input, "--epoch-interval", "60ms", "--parallelism", "2");
    await killed(context, place, { kills: 4, epochsALife: 1 });
    assert.deepEqual(rows(await read(place)), expected);
  });
});
