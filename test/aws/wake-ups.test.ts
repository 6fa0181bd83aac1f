/** Whatever happens around going idle, records that have come are processed, though no heartbeat wakes the pipeline (I7). */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { DeleteObjectsCommand, HeadBucketCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { StopExecutionCommand } from "@aws-sdk/client-sfn";
import { endedEvent } from "../support/aws/execution-events.ts";
import { KafkaEvents } from "../support/aws/kafka-events.ts";
import { PipelineStack } from "../support/aws/pipeline-stack.ts";
import { comeAgainAfter } from "../support/aws/queues.ts";
import { startWorld, type World } from "../support/aws/world.ts";
import { type AwsRequest, operationOf } from "../support/emulator/aws-answers.ts";
import type { Gate } from "../support/emulator/fault-proxy.ts";
import { aBroker, anEmulatorBesideUs, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { after, before, beforeEach, test } = await needing(anEmulatorBesideUs, aBroker);

let world: World;
let pipeline: PipelineStack;
let events: KafkaEvents;
const sent: string[] = [];

before(async () => {
  world = await startWorld();
  const { oracle, broker, proxy } = world;
  await oracle.createTopic("lines", 2);
  await oracle.createTopic("out", 1);
  pipeline = new PipelineStack(world, {
    stack: "epochflow-wake-ups",
    props: {
      entry: "test/aws/app/pass-on.ts",
      parameters: { brokers: broker.bootstrap, input: "lines", output: "out" },
      policy: { intervalMs: 200, paceMs: 0 },
      removalPolicy: "destroy",
    },
    environment: { AWS_ENDPOINT_URL: proxy.endpoint },
  });
  await pipeline.deploy();
  await pipeline.idle(1);
  events = new KafkaEvents({ pipeline, oracle });
});
after(async () => {
  await events?.stop();
  await world[Symbol.asyncDispose]();
});

/** Records without a transaction. */
async function send(count: number): Promise<void> {
  await using producer = await world.oracle.producer({ properties: { "linger.ms": 0 } });
  await producer.send(...newRecords(count));
}

function newRecords(count: number) {
  const lines = Array.from({ length: count }, (_, index) => `line ${sent.length + index}`);
  sent.push(...lines);
  return lines.map((value, index) => ({ topic: "lines", partition: index % 2, value }));
}

/** Resolves when the trigger was told of them. */
async function sendAndTell(count: number): Promise<void> {
  await send(count);
  await events.caughtUp();
}

async function output(): Promise<string[]> {
  const records = await world.oracle.read("out");
  return records.map(({ value }) => JSON.parse(String(value)).line as string).sort();
}

async function processed(): Promise<void> {
  await until("all is processed", async () => {
    await sleep(100);
    return (await output()).length >= sent.length;
  });
  await pipeline.idle();
  assert.deepEqual(await output(), [...sent].sort());
}

const isStart = (request: AwsRequest) => operationOf(request) === "StartExecution";

const nameIn = ({ body }: AwsRequest): string => JSON.parse(String(body)).name;

/** Resolves when no function asks for anything any more: executions that have ended are collected. */
async function quiet(): Promise<void> {
  let before = -1;
  await until("nobody asks for anything", async () => {
    const { requests } = world.proxy;
    const isQuiet = requests === before;
    before = requests;
    await sleep(250);
    return isQuiet;
  });
}

/** The write of the wake sequence that gives the lease back: it depends on HEAD, too, as no other that leaves nobody with the lease. */
function isRelease(request: AwsRequest): boolean {
  if (operationOf(request) !== "TransactWriteItems") return false;
  const { TransactItems } = JSON.parse(String(request.body)) as { TransactItems: { Put?: { Item: LedgerItem } }[] };
  const puts = TransactItems.flatMap(({ Put }) => (Put ? [Put.Item] : []));
  return TransactItems.length > 1 && puts.some(({ sk, owner }) => sk.S === "WAKE" && owner?.NULL);
}

interface LedgerItem {
  readonly sk: { readonly S: string };
  readonly owner?: { readonly NULL?: boolean };
}

/** The request that waits there. */
async function reached(gate: Gate): Promise<AwsRequest> {
  let request: AwsRequest | undefined;
  gate.reached.then((held) => {
    request = held;
  });
  await until("a request is held", async () => {
    await sleep(10);
    return request !== undefined;
  });
  return request!;
}

/** True for the request of this number after the start of an execution: what it does itself, for whoever starts it has done all. */
function afterStart(number: number): (request: AwsRequest) => boolean {
  let count = Number.NaN;
  return (request) => {
    count = isStart(request) ? 0 : count + 1;
    return count === number;
  };
}

async function stop(name: string): Promise<void> {
  const executionArn = `${pipeline.parts.stateMachine.replace(":stateMachine:", ":execution:")}:${name}`;
  await world.clients.sfn.send(new StopExecutionCommand({ executionArn }));
}

const wakeUp = { source: "epochflow" };

// What one test has lost is found before the next.
beforeEach(async () => {
  if ((await output()).length < sent.length) await pipeline.invoke("trigger", wakeUp);
  await processed();
});

test("records that come at any request of an execution that goes idle", async () => {
  for (let number = 1, wasLast = false; !wasLast; number++) {
    await quiet();
    const gate = world.proxy.hold("before", afterStart(number));
    await pipeline.invoke("trigger", wakeUp);
    wasLast = isRelease(await reached(gate));
    await sendAndTell(2);
    gate.open();
    await processed();
  }
});

test("records that come while the lease is given back, after some work or none, or while the execution that had it ends", async () => {
  for (const [when, work] of [
    ["before", 1],
    ["after", 0],
    ["after", 1],
  ] as const) {
    const gate = world.proxy.hold(when, isRelease);
    if (work > 0) await send(work);
    else await pipeline.invoke("trigger", wakeUp);
    await reached(gate);
    await sendAndTell(2);
    gate.open();
    await processed();
  }
});

/** @returns the name of the execution, which has the lease, and has done nothing with it */
async function startedAndStopped(): Promise<string> {
  const gate = world.proxy.hold("before", afterStart(1));
  const start = world.proxy.hold("after", isStart);
  await send(2);
  const name = nameIn(await reached(start));
  start.open();
  await reached(gate);
  await stop(name);
  gate.open();
  return name;
}

test("an execution that dies before it has done anything", async () => {
  const name = await startedAndStopped();
  await processed();

  // Its end is told again, while another execution owns the lease.
  const gate = world.proxy.hold("before", afterStart(1));
  await pipeline.invoke("trigger", wakeUp);
  await reached(gate);
  const again = endedEvent(pipeline.parts.stateMachine, name, "ABORTED");
  assert.deepEqual(await pipeline.invoke("trigger", again), { outcomes: ["running"] });
  gate.open();
});

test("an execution that dies, and a trigger that is told so and cannot start another", async () => {
  await comeAgainAfter(world.emulator, /Ended(?!DeadLetters)/, 1);
  let first: string | undefined;
  const isAnother = (request: AwsRequest) => {
    if (!isStart(request)) return false;
    first ??= nameIn(request);
    return nameIn(request) !== first;
  };
  const { count } = world.proxy;
  world.proxy.inject("broken", isAnother, 7); // one more than a client tries
  await startedAndStopped();
  await processed();
  assert.equal(world.proxy.count, count + 7);
});

test("a trigger that dies, or cannot start an execution, once the lease is given to it", async () => {
  world.proxy.inject("broken", isStart, 7); // one more than a client tries
  const failed = events.failed;
  await send(2);
  await processed();
  assert.ok(events.failed > failed, "the trigger has told its event source to try again");
});

test("two triggers at once, of which one only starts the execution", async () => {
  const gate = world.proxy.hold("before", isStart);
  const first = pipeline.invoke("trigger", wakeUp);
  await reached(gate);
  assert.deepEqual(await pipeline.invoke("trigger", wakeUp), { outcomes: ["started"] });
  await sendAndTell(2);
  gate.open();
  assert.match(JSON.stringify(await first), /started|running/);
  await processed();
});

test("an execution's name that is used up when its start is tried again", async () => {
  const gate = world.proxy.hold("after", isStart);
  world.proxy.inject("late reset", isStart);
  const told = sendAndTell(2);
  const name = nameIn(await reached(gate));
  await stop(name);
  gate.open();
  await told;
  await processed();
});

test("a transaction that commits late, after all events of its records", async () => {
  await using producer = await world.oracle.producer({ transactionalId: "late" });
  await producer.begin();
  await producer.send(...newRecords(2));
  await events.caughtUp();
  await sleep(1500);
  assert.ok((await pipeline.statuses()).includes("RUNNING"), "it waits for the end of the transaction");
  await producer.commit();
  await processed();
});

test("records behind a transaction that is aborted late", async () => {
  await using producer = await world.oracle.producer({ transactionalId: "late" });
  await producer.begin();
  await producer.send({ topic: "lines", partition: 0, value: "never" });
  await sendAndTell(2);
  await sleep(1500);
  await producer.abort();
  await processed();
});

test("while nothing comes, nothing runs and nobody asks AWS for anything", async () => {
  await quiet();
  const { requests } = world.proxy;
  await sleep(5000);
  assert.equal(world.proxy.requests, requests);
  assert.ok(!(await pipeline.statuses()).includes("RUNNING"));
});

test("what may be deleted goes with the stack, once its bucket is empty", async () => {
  const { clients } = world;
  const { table: TableName, bucket: Bucket } = pipeline.parts;
  const { Contents = [] } = await clients.s3.send(new ListObjectsV2Command({ Bucket }));
  const Objects = Contents.map(({ Key }) => ({ Key: Key! }));
  await clients.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  await pipeline.destroy();
  await assert.rejects(clients.s3.send(new HeadBucketCommand({ Bucket })), { name: "NotFound" });
  await assert.rejects(clients.dynamodb.send(new DescribeTableCommand({ TableName })), {
    name: "ResourceNotFoundException",
  });
});
