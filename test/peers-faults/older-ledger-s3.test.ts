/** As `older-ledger.test.ts`, for output in a bucket: a table of DynamoDB that was restored to a point in time before what the bucket has. */
import assert from "node:assert/strict";
import { LossError } from "../../shared/errors.ts";
import { owner, performEpoch } from "../../shared/testing/sink-scenario.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { s3Target } from "../support/emulator/s3-target.ts";
import { createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: Number.MAX_SAFE_INTEGER });

test("a bucket that has output of later epochs than the ledger knows of is a loss, by name", async () => {
  const options = { client: aws.clients.s3, bucket: await createBucket(aws.clients), prefix: "out" };
  const target = s3Target(options);
  await performEpoch(target, 3);
  const sink = target.open();
  await assert.rejects(sink.open({ ...owner, decided: 2 }), (error: unknown) => {
    assert.ok(error instanceof LossError && error.code === "ledger-older-than-output", String(error));
    assert.match(error.message, new RegExp(`s3://${options.bucket}/out.* epoch 3, .* 2 epochs only`));
    return true;
  });
  await sink.open({ ...owner, decided: 3 });
});
