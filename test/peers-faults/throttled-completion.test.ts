/**
 * S3 throttles the completion of a multipart upload for longer than its client tries. Peers have lost the upload then, or the end of the file (FLINK-40595, FLINK-39778). Here it is no loss: the commit is
 * tried again, and publishes once.
 */
import assert from "node:assert/strict";
import { readRows } from "../../shared/adapters/s3/reader.ts";
import { createS3FilesSink } from "../../shared/adapters/s3/sink.ts";
import { EpochflowError } from "../../shared/errors.ts";
import { collect } from "../../shared/testing/collect.ts";
import { perform, SinkEpoch, type SinkUnderTest } from "../../shared/testing/sink-scenario.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: Number.MAX_SAFE_INTEGER });

test("a completion that is throttled for longer than its client tries is tried again, and published once", async () => {
  const options = { client: aws.faulty.s3, bucket: await createBucket(aws.clients), prefix: "out" };
  const target: SinkUnderTest<{ n: number }> = {
    open: () => createS3FilesSink(options, 500),
    read: async () => (await collect(readRows(options))).map((row) => JSON.parse(row)),
    row: (n) => ({ n }),
    badRow: { toJSON: () => undefined } as never,
    exclusive: true,
    close: async () => {},
  };
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
