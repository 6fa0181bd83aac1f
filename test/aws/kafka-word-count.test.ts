/** The word count from a topic into a topic and a bucket, deployed by the CDK's own command: exact, also when its code changes while it runs. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { HeadBucketCommand } from "@aws-sdk/client-s3";
import { DescribeStateMachineCommand } from "@aws-sdk/client-sfn";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { readRows } from "../../shared/adapters/s3/reader.ts";
import { KafkaEvents } from "../support/aws/kafka-events.ts";
import { PipelineStack } from "../support/aws/pipeline-stack.ts";
import { startWorld, type World } from "../support/aws/world.ts";
import { createBucket } from "../support/emulator/services.ts";
import { expectedCounts, makeLines, readCounts, sendLines } from "../support/kafka/counts.ts";
import { aBroker, anEmulatorBesideUs, needing } from "../support/needing.ts";

const { after, before, test } = await needing(anEmulatorBesideUs, aBroker);

const partitions = 3;
const lines = makeLines("lines", partitions, 6000, new SeededRandom(11));

let world: World;
let bucket: string;
let pipeline: PipelineStack;
let events: KafkaEvents;
before(async () => {
  world = await startWorld();
  await world.oracle.createTopic("lines", partitions);
  await world.oracle.createTopic("counts", 2);
  bucket = await createBucket(world.clients);
  pipeline = new PipelineStack(world, {
    stack: "epochflow-kafka-word-count",
    props: {
      entry: "test/aws/app/word-count.ts",
      parameters: {
        ...{ brokers: world.broker.bootstrap, input: "lines", output: "counts" },
        folder: `s3://${bucket}/counts`,
      },
      policy: { intervalMs: 500, records: 700 },
    },
  });
});
after(async () => {
  await events?.stop();
  await world[Symbol.asyncDispose]();
});

/** Of `lines`, so many are in the topic. */
let sent = 0;
async function sendUpTo(count: number): Promise<void> {
  await sendLines(world.oracle, lines.slice(sent, count));
  sent = count;
}

const windowStartOf = (row: string): number => JSON.parse(row).windowStart;

/** The counts of what was sent that are final: of windows of ten seconds that end before the watermark, which is five seconds behind the slowest partition. */
function finalCounts(): string[] {
  const input = lines.slice(0, sent);
  const ends = Array.from({ length: partitions }, (_, partition) =>
    Math.max(...input.filter((line) => line.partition === partition).map(({ timestamp }) => timestamp!)),
  );
  const watermark = Math.min(...ends) - 5000;
  return expectedCounts(input).filter((row) => windowStartOf(row) + 10_000 <= watermark);
}

/** What is in the topic and, the same, in the bucket, when nothing is left to do. */
async function written(): Promise<string[]> {
  await events.caughtUp();
  await pipeline.idle();
  const { counts, faults } = await readCounts(world.oracle, "counts");
  assert.deepEqual(faults, []);
  const rows = await Array.fromAsync(readRows({ client: world.clients.s3, bucket, prefix: "counts" }));
  assert.deepEqual(rows.map((row) => row.trimEnd()).sort(), counts);
  return counts;
}

/** What `word-count-changed.ts` adds to a row. */
const change = ',"changed":true';

test("a word count is exact in its topic and its bucket", async () => {
  await sendUpTo(1500);
  await pipeline.deploy();
  events = new KafkaEvents({ pipeline, oracle: world.oracle, duplicateEvery: 3 });
  await sendUpTo(2500);
  const counts = await written();
  assert.ok(counts.length > 0);
  assert.deepEqual(counts, finalCounts());
});

test("changed code goes on with the state, though it is deployed while the pipeline runs", async () => {
  const first = await written();
  let isDeployed = false;
  const deploying = pipeline.deploy({ entry: "test/aws/app/word-count-changed.ts" }).finally(() => {
    isDeployed = true;
  });
  while (!isDeployed && sent < 5500) {
    await sendUpTo(sent + 50);
    await sleep(200);
  }
  await deploying;
  await written();
  const untilThen = new Set(finalCounts());
  events.replay();
  await sendUpTo(lines.length);
  const counts = await written();
  assert.deepEqual(counts.map((row) => row.replace(change, "")).sort(), finalCounts());
  for (const row of counts) {
    const isChanged = row.includes(change);
    assert.ok(!isChanged || !first.includes(row.replace(change, "")), `${row} was written already`);
    assert.ok(isChanged || untilThen.has(row), `${row} is the work of code that was gone`);
  }
  assert.ok((await pipeline.statuses()).every((status) => status === "SUCCEEDED"));
});

test("the data stays when the stack goes", async () => {
  const { clients } = world;
  const { table, bucket: snapshots, stateMachine: stateMachineArn } = pipeline.parts;
  await pipeline.destroy();
  await clients.dynamodb.send(new DescribeTableCommand({ TableName: table }));
  await clients.s3.send(new HeadBucketCommand({ Bucket: snapshots }));
  await assert.rejects(clients.sfn.send(new DescribeStateMachineCommand({ stateMachineArn })), {
    name: "StateMachineDoesNotExist",
  });
});
