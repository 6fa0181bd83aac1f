/** The app that users deploy, deployed by the CDK's own command: input in a bucket, a wake-up, the state machine, output in a bucket. */
import assert from "node:assert/strict";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { readRows } from "../../shared/adapters/s3/reader.ts";
import { AwsDeployment } from "../support/aws/deployment.ts";
import { type Emulator, startEmulator } from "../support/emulator/emulator.ts";
import { type Clients, clientsOf } from "../support/emulator/services.ts";
import { temporaryFolder } from "../support/folder.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { after, before, test } = await needing(anEmulator);

const folder = temporaryFolder();
let emulator: Emulator;
let clients: Clients;
before(async () => {
  emulator = await startEmulator();
  clients = clientsOf(emulator.endpoint);
});
after(async () => {
  clients.close();
  await emulator.stop();
  folder[Symbol.dispose]();
});

/** Of infra/app.ts. */
const stack = "epochflow-word-count";

const words = ["river", "stone", "cloud", "ember"];
/** Lines of `<milliseconds> TAB <words>`, in order of time. */
const linesOf = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const at = from + index;
    return `${at * 700}\t${words[at % 4]} ${words[(at * 7) % 3]} ${words[(at * at) % 4]}`;
  });

/** The same job as a batch program: counts by window and word, of windows that end by the watermark, five seconds behind the last line. */
function expected(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  const records = lines.map((line) => line.split("\t") as [string, string]);
  const watermark = Math.max(...records.map(([time]) => Number(time))) - 5000;
  for (const [time, text] of records) {
    const windowStart = Math.floor(Number(time) / 10_000) * 10_000;
    if (windowStart + 10_000 > watermark) continue;
    for (const word of text.split(" ")) {
      const row = JSON.stringify({ word, windowStart });
      counts.set(row, (counts.get(row) ?? 0) + 1);
    }
  }
  return [...counts].map(([row, count]) => JSON.stringify({ ...JSON.parse(row), count })).sort();
}

test("a deployed pipeline counts what lies in a bucket, exactly, and rests when it is done", async () => {
  const deployment = new AwsDeployment({ emulator, clients, folder: folder.path, stack });
  const { DataBucket = "", Trigger = "", StateMachine = "" } = await deployment.deploy();
  await deployment.idle(StateMachine, 1);
  const put = (name: string, lines: readonly string[]) => {
    const object = { Bucket: DataBucket, Key: `input/${name}`, Body: `${lines.join("\n")}\n` };
    return clients.s3.send(new PutObjectCommand(object));
  };
  const output = async () => {
    const rows = await Array.fromAsync(readRows({ client: clients.s3, bucket: DataBucket, prefix: "output" }));
    return rows.map((row) => row.trimEnd()).sort();
  };
  // Both end at the same time, so that neither holds the watermark back.
  const [one, other] = [linesOf(0, 400), linesOf(100, 300)];
  await put("one", one);
  await put("other", other);
  assert.deepEqual(await deployment.invoke(Trigger, { source: "epochflow" }), { outcomes: ["started"] });
  await deployment.idle(StateMachine);
  assert.deepEqual(await output(), expected([...one, ...other]));

  // Nothing new: it looks, and is idle again.
  const kafka = { eventSource: "aws:kafka", records: {} };
  assert.deepEqual(await deployment.invoke(Trigger, kafka), { outcomes: ["started"] });
  await deployment.idle(StateMachine);
  assert.deepEqual(await output(), expected([...one, ...other]));
  assert.deepEqual(await deployment.statuses(StateMachine), ["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
});
