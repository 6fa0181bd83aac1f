/**
 * Deployed pipelines, and whatever may happen to them on AWS: functions die in the middle, are invoked twice and late, run out of time, are throttled; executions
 * are stopped, and started by others; tables and buckets are throttled, cut off and silent. Nothing of it changes the output (I1 to I6), and nothing is left behind.
 * Whatever a function asks for meanwhile, its role has the right to, and no right is one that no function needs.
 *
 * `EPOCHFLOW_TEST_SEED` gives the same choices again, as far as time allows; `EPOCHFLOW_TEST_TIMES=10` makes ten times as many.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { PolicySettings } from "../../functions/settings.ts";
import { bucketWorkload } from "../support/aws/bucket-workload.ts";
import { Disturber, disturbances } from "../support/aws/disturber.ts";
import { FaultyStack } from "../support/aws/faulty-stack.ts";
import { topicWorkload } from "../support/aws/topic-workload.ts";
import type { Workload } from "../support/aws/workload.ts";
import { type Emulator, startEmulator } from "../support/emulator/emulator.ts";
import { type Clients, clientsOf } from "../support/emulator/services.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startKafka } from "../support/kafka/broker.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { aBroker, anEmulatorBesideUs, needing } from "../support/needing.ts";
import { seededRandom } from "../support/seed.ts";
import { until } from "../support/until.ts";

const { after, before, test } = await needing(anEmulatorBesideUs, aBroker);

const times = Number(process.env.EPOCHFLOW_TEST_TIMES ?? 1);

const folder = temporaryFolder();
let emulator: Emulator;
let clients: Clients;
before(async () => {
  // What the state machine waits for is seconds, and up to a minute.
  emulator = await startEmulator({ reachesHost: true, environment: { SFN_WAIT_SCALE: "0.03" } });
  clients = clientsOf(emulator.endpoint);
});
after(async () => {
  clients.close();
  await emulator.stop();
  folder[Symbol.dispose]();
});

/** Running out of time counts as an error of the user's code, which stops a pipeline after some attempts. */
const policy: PolicySettings = { intervalMs: 1000, paceMs: 0, parallelism: 3, attempts: 1000, eventBudget: 2000 };
const large: PolicySettings = { ...policy, fused: false };
const small: PolicySettings = { ...large, records: 60 };
const fused: PolicySettings = { ...small, fused: true };

/** Whoever was to wake the pipeline may have died of it; so long later somebody does it again. */
const heartbeatMs = 5000;

/** Until each disturbance has come about so often: each as often in any order, then those that came to nothing. */
async function disturb(stack: FaultyStack, workload: Workload, disturber: Disturber, goal: number): Promise<void> {
  const { random, ledger, recorder } = stack;
  let [fedAt, wokenAt] = [-1, performance.now()];
  const wanted = disturbances.flatMap((one) => Array.from({ length: goal - disturber.countOf(one) }, () => one));
  for (;;) {
    const lacking = wanted.length > 0 ? wanted : disturbances.filter((one) => disturber.countOf(one) < goal);
    if (lacking.length === 0) return;
    const { decided, status } = (await ledger.head())!;
    assert.equal(status, "running");
    const isHungry = fedAt < 0 || decided >= fedAt + 3 || (await ledger.wake()).owner === null;
    if (isHungry) await workload.feed(300, 3);
    if (isHungry) fedAt = decided;
    if (isHungry || performance.now() > wokenAt + heartbeatMs) {
      await stack.wake();
      wokenAt = performance.now();
    }
    await recorder.look();
    const [what] = lacking.splice(random.below(lacking.length), 1);
    await disturber.disturb(what!);
    await someEpochs(stack, random.below(3));
  }
}

/** Waits until so many more epochs are decided, but not for ever: nothing goes on if something happens all the time, or if it has to be woken. */
async function someEpochs({ ledger }: FaultyStack, count: number): Promise<void> {
  const goal = (await ledger.head())!.decided + count;
  for (const giveUpAt = performance.now() + 1500; performance.now() < giveUpAt; await sleep(50))
    if ((await ledger.head())!.decided >= goal) return;
}

/** With room for one invocation of each function, tasks of an epoch take turns. */
async function throttled(stack: FaultyStack, workload: Workload): Promise<void> {
  const { ledger, functions, recorder } = stack;
  for (const name of functions.all) await functions.reserve(name, 1);
  await workload.feed(15_000, 60);
  await stack.wake();
  await until("an epoch is decided", async () => (await ledger.head())!.decided > 0);
  for (const name of functions.all) await functions.reserve(name, undefined);
  await recorder.look();
  assert.ok(recorder.throttles > 0, "no invocation was refused");
}

async function campaign(context: TestContext, stack: FaultyStack, workload: Workload): Promise<void> {
  const disturber = new Disturber(stack);
  await stack.setPolicy(small);
  await disturb(stack, workload, disturber, times);
  await stack.setPolicy(fused);
  await disturb(stack, workload, disturber, 2 * times);
  stack.calm();
  await disturber.end();
  context.diagnostic(`${stack.faults} requests failed or got no answer; ${disturber}`);
  assert.ok(stack.faults > 20 * times, "requests that failed or got no answer");

  await workload.close();
  await stack.wake();
  await stack.idle();
  assert.deepEqual(await workload.problems(), []);
  assert.deepEqual(await stack.leftovers(workload.files), []);
  // Whatever was invoked may be invoked once more when all is over and collected.
  for (let zombies = 0; zombies < 20; zombies++) await disturber.disturb("invoked late");
  await disturber.end();
  await stack.idle();
  assert.deepEqual(await workload.problems(), []);
  assert.deepEqual(await stack.leftovers(workload.files), []);
  assert.deepEqual(stack.rights.missing(), []);
  assert.deepEqual(stack.rights.unused(), []);
}

test("from a bucket to a bucket", async (context) => {
  const random = seededRandom(context);
  const workload = await bucketWorkload(clients, random);
  const settings = { stack: "epochflow-faults-files", props: { ...workload.props, policy: large } };
  await using stack = await FaultyStack.deploy({ emulator, clients, folder: folder.path, random }, settings);
  await throttled(stack, workload);
  await campaign(context, stack, workload);
});

test("from a topic to a topic and a bucket", async (context) => {
  const random = seededRandom(context);
  await using broker = await startKafka();
  await using oracle = await startOracle(broker.bootstrap);
  const workload = await topicWorkload(clients, random, { brokers: broker.bootstrap, oracle });
  const settings = { stack: "epochflow-faults-topics", props: { ...workload.props, policy: small } };
  await using stack = await FaultyStack.deploy({ emulator, clients, folder: folder.path, random }, settings);
  await campaign(context, stack, workload);
});
