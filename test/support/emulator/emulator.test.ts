/** The emulator itself, as a process or in a container: that it starts, forgets, and never outlives its test. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ListBucketsCommand } from "@aws-sdk/client-s3";
import { anEmulator, needing } from "../needing.ts";
import { until } from "../until.ts";
import { startEmulator } from "./emulator.ts";
import { answers } from "./health.ts";
import { clientsOf, createBucket } from "./services.ts";

const { test } = await needing(anEmulator);

test("an emulator serves requests, forgets what it was told when it is reset, and stops", async () => {
  const emulator = await startEmulator();
  using clients = clientsOf(emulator.endpoint);
  const buckets = async () =>
    (await clients.s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name) ?? [];
  const bucket = await createBucket(clients);
  assert.deepEqual(await buckets(), [bucket]);
  await emulator.reset();
  assert.deepEqual(await buckets(), []);
  await emulator.stop();
  assert.equal(await answers(emulator.endpoint), false);
});

test("an emulator that cannot start says why", async () => {
  await assert.rejects(
    startEmulator({ environment: { PYTHONPATH: "/dev/null", PYTHONHOME: "/nowhere" } }),
    /emulator .*start/,
  );
});

test("an emulator ends with the process that started it, even when that is killed", async () => {
  const script = `
    const { startEmulator } = await import(${JSON.stringify(new URL("emulator.ts", import.meta.url))});
    console.log((await startEmulator()).endpoint);
    setInterval(() => {}, 1000);`;
  const options = ["--conditions=epochflow-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
  const [endpoint] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  assert.equal(await answers(endpoint), true);
  child.kill("SIGKILL");
  await until("the emulator has ended", async () => !(await answers(endpoint)));
});
