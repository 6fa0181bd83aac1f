/**
 * S3 throttles the completion of a multipart upload for longer than its client tries. Peers have lost the upload then, or the end of the file (FLINK-40595, FLINK-39778). Here it is no loss: the commit is
 * tried again, and publishes once.
 */
import assert from "node:assert/strict";
import { EpochflowError } from "../../shared/errors.ts";
import { perform, SinkEpoch } from "../../shared/testing/sink-scenario.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { s3Target } from "../support/emulator/s3-target.ts";
import { createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: Number.MAX_SAFE_INTEGER });

test("a completion that is throttled for longer than its client tries is tried again, and published once", async () => {
  const target = s3Target({ client: aws.faulty.s3, bucket: await createBucket(aws.clients), prefix: "out" });
  const epoch = new SinkEpoch(target, 2);
  const sink = target.open();
  await perform(epoch.prepare(sink, 1));
  epoch.decide(sink);
  aws.proxy.inject("throttled", ({ method, url }) => method === "POST" && /uploadId=/.test(url), 25);
  let refused = 0;
  for (let isDone = false; !isDone; ) {
    assert.deepEqual(await target.read(), [], "nothing is visible yet");
    // Another process each time, as after a failed commit.
    await perform(epoch.complete(target.open())).then(
      () => (isDone = true),
      (error: unknown) => {
        assert.ok(error instanceof EpochflowError && error.kind === "infrastructure", String(error));
        refused++;
      },
    );
  }
  assert.ok(refused > 1, String(refused));
  assert.deepEqual(await target.read(), epoch.rows);
});
