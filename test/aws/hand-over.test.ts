/**
 * A run that is longer than an execution may be crosses to a successor, and to the next, and loses nothing: with functions for the steps of an epoch, and with one
 * for many epochs.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { StartExecutionCommand } from "@aws-sdk/client-sfn";
import { variables } from "../../functions/settings.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { executionName } from "../../shared/epoch/names.ts";
import { bucketWorkload } from "../support/aws/bucket-workload.ts";
import { DeployedFunctions } from "../support/aws/functions.ts";
import { executionsOf, historyOf } from "../support/aws/history.ts";
import { ledgerOf, pipeline } from "../support/aws/leftovers.ts";
import { PipelineStack } from "../support/aws/pipeline-stack.ts";
import type { Workload } from "../support/aws/workload.ts";
import { type Emulator, startEmulator } from "../support/emulator/emulator.ts";
import { type Clients, clientsOf } from "../support/emulator/services.ts";
import { temporaryFolder } from "../support/folder.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { after, before, test } = await needing(anEmulator);

/** Of a round of the state machine with one task and one sink, on AWS; the emulator tells of some only. */
const eventsOfRound = 57;
const policy = { intervalMs: 1000, paceMs: 0, parallelism: 1, records: 60 };
const steps = { ...policy, fused: false, eventBudget: 500 };
const fused = { ...policy, fused: true, eventBudget: 250 };

const folder = temporaryFolder();
let emulator: Emulator;
let clients: Clients;
let workload: Workload;
let stack: PipelineStack;
before(async () => {
  emulator = await startEmulator();
  clients = clientsOf(emulator.endpoint);
  workload = await bucketWorkload(clients, new SeededRandom(3));
  const props = { ...workload.props, policy: steps };
  stack = new PipelineStack({ emulator, clients, folder: folder.path }, { stack: "epochflow-hand-over", props });
  await stack.deploy();
  await stack.idle();
});
after(async () => {
  clients.close();
  await emulator.stop();
  folder[Symbol.dispose]();
});

const ledger = () => ledgerOf(clients, stack.parts);

/** Until all input is in the output. */
async function run(): Promise<void> {
  await workload.feed(1500, 3);
  await workload.close();
  await stack.invoke("trigger", { source: "epochflow" });
  await stack.idle();
  assert.deepEqual(await workload.problems(), []);
  const { decided, committed } = (await ledger().head())!;
  assert.equal(committed, decided);
}

/** A run of many executions, one after the other, each of which starts the next and is over long before AWS would end it. */
async function longRun(context: TestContext, { eventBudget }: { readonly eventBudget: number }): Promise<void> {
  const { run: from } = await ledger().wake();
  await run();
  const { uid } = (await ledger().head())!;
  const executions = (await executionsOf(clients.sfn, stack.parts.stateMachine)).slice(from);
  const names = executions.map((_, index) => executionName(pipeline, uid, from + index + 1));
  assert.deepEqual(
    executions.map(({ name, status }) => [name, status]),
    names.map((name) => [name, "SUCCEEDED"]),
  );
  for (const [index, { executionArn }] of executions.entries()) {
    const events = await historyOf(clients.sfn, executionArn!);
    const entered = events.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails ?? []);
    const rounds = entered.filter(({ name }) => name === "Work").length;
    assert.ok(Math.max(events.length, rounds * eventsOfRound) <= eventBudget);
    const started = entered.filter(({ name }) => name === "Start owner").map(({ input }) => JSON.parse(input!).start);
    assert.deepEqual(started, names.slice(index + 1, index + 2));
  }
  context.diagnostic(`${executions.length - 1} hand-overs`);
  assert.ok(executions.length > 3);
}

test("with a function for each step", (context) => longRun(context, steps));

test("with one function for many epochs", async (context) => {
  using functions = new DeployedFunctions(emulator.endpoint, stack.parts);
  for (const name of ["plan", "fused"] as const)
    await functions.set(name, { [variables.policy]: JSON.stringify(fused) });
  await longRun(context, fused);
});

test("to a successor whose name somebody has used up", async () => {
  const { uid } = (await ledger().head())!;
  const { run: last } = await ledger().wake();
  const name = executionName(pipeline, uid, last + 2);
  await clients.sfn.send(new StartExecutionCommand({ stateMachineArn: stack.parts.stateMachine, name, input: "{}" }));
  await stack.idle();
  await run();
});
