/**
 * Every call of every port fails once, before its effect and after it; the process dies there; the function that made the call comes back as a zombie. The
 * output is always that of the undisturbed run, byte for byte, and nothing is left behind (I1 to I6, I8).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them (minutes); otherwise one call of each method in each mode, by chance.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { collect } from "../shared/epoch/collect.ts";
import { startNode } from "./support/cli.ts";
import { type Call, Counter, counting } from "./support/counter.ts";
import { Fault, type Mode, modes } from "./support/faults.ts";
import { mapParallel } from "./support/pool.ts";
import { synchronous } from "./support/ports.ts";
import type { Workplace } from "./support/readings.ts";
import { sampleOfEach } from "./support/sample.ts";
import { problemsOf, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

const processes = process.env.EPOCHFLOW_TEST_ALL ? 300 : 12;
const dyingProcess = fileURLToPath(new URL("support/dying-process.ts", import.meta.url));

interface Case extends Call {
  /** Position among all calls of the undisturbed run. */
  readonly index: number;
  readonly mode: Mode;
}

test("a fault at any call of any port changes nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, counting(counter)), undisturbed);
  assert.deepEqual(expected.outcomes, ["done", "nothing-new"]);
  assert.deepEqual(expected.left, []);
  const calls = counter.calls();
  const all = calls.flatMap((call, index) => modes.map((mode) => ({ ...call, index, mode }))).filter(isWorthTrying);
  const chosen = sampleOfEach(all, 1, seededRandom(context), ({ method, mode }) => `${method} ${mode}`);
  let hits = 0;
  const failed = await mapParallel(chosen, 6, async ({ index, mode, ...call }) => {
    const fault = new Fault(call, mode, (engine) => collect(engine, { checkpoints: 1, history: 1000 }));
    const result = await runScenario((place) => runIn(place, fault.internals), undisturbed);
    if (fault.hit) hits++;
    return problemsOf(result, expected.trees).map(
      (problem) => `call ${index} (${call.method} ${call.ordinal}), ${mode}: ${problem}`,
    );
  });
  context.diagnostic(`${all.length} cases, ${chosen.length} tried, ${hits} of them hit their call`);
  assert.deepEqual(failed.flat(), []);
  assert.ok(hits > chosen.length / 2, "most faults must really happen");
});

test("a process that is killed at a call of a port loses nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, counting(counter)), undisturbed);
  const calls = counter.calls();
  const random = seededRandom(context);
  const chosen = Array.from({ length: processes }, () => calls[random.below(calls.length)]!);
  const failed = await mapParallel(chosen, 2, async (call) => {
    const when = random.below(2) === 0 ? "before" : "after";
    const name = `${call.method} ${call.ordinal}, killed ${when} it`;
    const killed = async ({ folder }: Workplace) => {
      const { child, finished } = startNode([dyingProcess, folder, call.method, String(call.ordinal), when]);
      const { stderr } = await finished;
      // What runs at the same time may be fewer calls in the end: then it was not killed.
      assert.ok(child.signalCode === "SIGKILL" || child.exitCode === 0, `${name}: ${stderr}`);
      return "killed";
    };
    return problemsOf(await runScenario(killed, undisturbed), expected.trees).map((problem) => `${name}: ${problem}`);
  });
  assert.deepEqual(failed.flat(), []);
});

/** Calls that only look, or get ready: whether they fail before or after is all one. */
const looking =
  /^(ledger\.(head|wake|epochs?|acks|units)|objects\.(get|list)|source\..*|sink\.(open|begin)|transaction\.drained)$/;

const isWorthTrying = ({ method, mode }: Case): boolean =>
  !(looking.test(method) && mode.endsWith("after")) && !(synchronous.has(method) && mode.endsWith("zombie"));
