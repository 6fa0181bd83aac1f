/** The command's `--stack`, on a pipeline that the CDK has deployed: what people do with one from their own machine. */
import assert from "node:assert/strict";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import type { PageData } from "../../local/watch/page/page-data.ts";
import { finalName } from "../../shared/adapters/output/names.ts";
import { PipelineStack } from "../support/aws/pipeline-stack.ts";
import { type Finished, type Started, startCli } from "../support/cli.ts";
import { anyAccount, type Emulator, startEmulator } from "../support/emulator/emulator.ts";
import { type Clients, clientsOf, createBucket } from "../support/emulator/services.ts";
import { temporaryFolder } from "../support/folder.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { after, before, test } = await needing(anEmulator);

// The waits of the state machine, which are seconds, last a tenth of them.
process.env.SFN_WAIT_SCALE = "0.1";
const folder = temporaryFolder();
let emulator: Emulator;
let clients: Clients;
let bucket: string;
let stack: PipelineStack;

before(async () => {
  emulator = await startEmulator();
  clients = clientsOf(emulator.endpoint);
  bucket = await createBucket(clients);
  const parameters = { input: `s3://${bucket}/input/`, output: `s3://${bucket}/output` };
  const props = { entry: "test/aws/app/word-count-of-files.ts", parameters, policy: { paceMs: 0 } };
  stack = new PipelineStack({ emulator, clients, folder: folder.path }, { stack: "of-the-command", props });
  await stack.deploy();
});
after(async () => {
  clients.close();
  await emulator.stop();
  folder[Symbol.dispose]();
});

/** `epochflow … --stack of-the-command`. */
const call = (line: string): Promise<Finished> => start(line).finished;

function start(line: string): Started {
  const { accessKeyId, secretAccessKey } = anyAccount.credentials;
  const env = {
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_REGION: anyAccount.region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  return startCli([...line.split(" "), "--stack", "of-the-command"], { env });
}

/** A command that leaves with 0. */
async function done(line: string): Promise<Finished> {
  const finished = await call(line);
  assert.equal(finished.code, 0, finished.stderr);
  return finished;
}

const jsonLines = ({ stdout }: Finished) =>
  stdout
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const status = async () => jsonLines(await done("status --json"))[0];

/** Some seconds of lines, one each; those of the last fifteen stay in windows that are open, or are late for those that are not. */
async function put(name: string, from: number, to: number): Promise<void> {
  const lines = Array.from({ length: to - from }, (_, index) => `${(from + index) * 1000}\tword\n`);
  await clients.s3.send(new PutObjectCommand({ Bucket: bucket, Key: `input/${name}`, Body: lines.join("") }));
}

/** What the lines of seconds `[from, to)` give: a window of ten seconds has ten of them. */
const windows = (from: number, to: number) =>
  Array.from({ length: (to - from) / 10 }, (_, index) => ({
    word: "word",
    windowStart: (from + index * 10) * 1000,
    count: 10,
  }));

test("a pipeline can be looked at", async () => {
  await put("one", 0, 100);
  await stack.invoke("trigger", { source: "epochflow" });
  await stack.idle();
  const { stdout } = await done("status");
  assert.match(stdout, /^pipeline +word-count$.*^stack +of-the-command$.*^table +.*^state machine +arn:aws:states:/ms);
  assert.match(stdout, /^status +ready$.*^execution +none at work$.*^epochs +(\d+) decided, \1 committed$/ms);
  assert.match(stdout, /^checkpoint +\d+ B$/m);
  const { decided, table, atWork } = await status();
  assert.deepEqual([table, atWork], [stack.parts.table, false]);

  const epochs = jsonLines(await done("epochs --json"));
  assert.equal(epochs.length, decided);
  const records = epochs.map(({ decision }) => decision.counts.records);
  assert.equal(
    records.reduce((sum, count) => sum + count, 0),
    100,
  );
  assert.match((await done("epochs --last 1")).stdout, /^epoch .*\n +\d+ {2}committed/);

  const [partition] = jsonLines(await done("lag --json"));
  assert.deepEqual(
    [partition.position > 0, partition.end, partition.high],
    [true, partition.position, partition.position],
  );
  assert.match(
    (await done("lag")).stdout,
    /^backlog 0 B, watermark 1970-01-01 00:01:34Z\nEnds are as of the last plan/m,
  );

  assert.deepEqual(jsonLines(await done("read")), windows(0, 90));
  assert.deepEqual(jsonLines(await done("read --sink counts --pipeline word-count")), windows(0, 90));
});

test("its page shows what its table says", async () => {
  const started = start("ui --port 0");
  await started.said(/page: http:\S+/);
  const [url] = /http:\S+/.exec(started.stderr())!;
  const page = await firstEvent(`${url}/events`);
  const { decided, committed, uid } = await status();
  assert.deepEqual([page.pipeline, page.uid, page.decided, page.committed], ["word-count", uid, decided, committed]);
  assert.deepEqual(
    [page.worker, page.atWork, page.problem, page.places.stack],
    ["execution", false, null, "of-the-command"],
  );
  const records = page.epochs.map(({ counts }) => counts?.records ?? 0);
  assert.equal(
    records.reduce((sum, count) => sum + count, 0),
    100,
  );
  for (const { phases, tasks, status: epochStatus } of page.epochs) {
    assert.equal(epochStatus, "committed");
    assert.ok(tasks.length > 0);
    assert.deepEqual([phases.at(0)?.phase, phases.at(-1)?.phase], ["start", "commit"]);
  }
  assert.ok(page.graph.partial && page.graph.nodes.some(({ id }) => id === "counts"));
  started.child.kill("SIGINT");
  assert.equal((await started.finished).code, 0);
});

/** The first message that a page would get. */
async function firstEvent(url: string): Promise<PageData> {
  let text = "";
  for await (const chunk of (await fetch(url)).body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, data] = /^data: (.*)\n\n/.exec(text) ?? [];
    if (data !== undefined) return JSON.parse(data);
  }
  throw new Error(`no event, but: ${text}`);
}

test("paused, it leaves its input alone until it is resumed, which also wakes it", async () => {
  assert.match(
    (await done("pause")).stderr,
    /word-count is paused\. `epochflow resume --stack of-the-command` lets it go on/,
  );
  await put("two", 100, 200);
  assert.deepEqual(await stack.invoke("trigger", { source: "epochflow" }), { outcomes: ["counted"] });
  assert.match(
    (await done("status")).stdout,
    /^status +paused: `epochflow resume --stack of-the-command` lets it go on$/m,
  );
  assert.deepEqual(jsonLines(await done("read")), windows(0, 90));

  assert.match((await done("resume")).stderr, /word-count is no longer paused\. An execution has started\./);
  await stack.idle();
  assert.deepEqual(jsonLines(await done("read")), windows(0, 190));
});

test("output whose place somebody has taken stops it; given up, the rest goes on", async () => {
  const { decided } = await status();
  const taken = [1, 2, 3].map(
    (more) => `output/${finalName({ epoch: decided + more, stage: 1, task: 0 }, 0, "jsonl")}`,
  );
  for (const Key of taken) await clients.s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "mine" }));
  await put("three", 200, 300);
  await stack.invoke("trigger", { source: "epochflow" });
  await stack.idle();
  const stopped = await status();
  assert.deepEqual([stopped.status, stopped.error.code], ["stopped", "output-name-taken"]);
  const { stdout } = await done("status");
  assert.match(stdout, /^status +stopped\n +error: .*`epochflow resume --stack of-the-command` lets it go on\.$/ms);
  assert.equal((await call("pause")).code, 1);

  const abandon = `abandon --epoch ${stopped.committed + 1} --sink`;
  const unasked = await call(`${abandon} counts`);
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /--yes/);
  const wrong = await call(`${abandon} count --yes`);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /Did you mean "counts"\?\n {2}way out: Sinks that have: counts\./);
  assert.equal((await status()).committed, stopped.committed);

  const { stderr } = await done(`${abandon} counts --yes`);
  assert.match(
    stderr,
    /^Abandoned 1 part of sink counts in epoch \d+; 0 had been committed\.\nIt is stopped: `epochflow resume --stack/,
  );
  assert.equal((await call(`${abandon} counts --yes`)).code, 2, "there is nothing left to abandon");
  for (const Key of taken) await clients.s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
  await done("resume");
  await stack.idle();
  await put("four", 300, 400);
  await done("resume");
  await stack.idle();
  const { status: now, decided: last, committed } = await status();
  assert.deepEqual([now, committed], ["running", last]);
  assert.deepEqual(jsonLines(await done("read")), [...windows(0, 190), ...windows(290, 390)]);
});
