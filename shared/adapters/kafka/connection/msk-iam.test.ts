import assert from "node:assert/strict";
import { test } from "node:test";
import { mskIamToken } from "./msk-iam.ts";

const surroundings = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "s3cret",
  AWS_SESSION_TOKEN: "session",
};

test("a token for MSK is a signed request, which names region and credentials but not the secret", async () => {
  Object.assign(process.env, surroundings);
  try {
    for (const [given, environment] of [
      ["eu-west-1", undefined],
      [undefined, "eu-west-1"],
    ] as const) {
      if (environment === undefined) delete process.env.AWS_REGION;
      else process.env.AWS_REGION = environment;
      const url = new URL(Buffer.from(await mskIamToken(given)(), "base64url").toString());
      assert.equal(url.host, "kafka.eu-west-1.amazonaws.com");
      assert.equal(url.searchParams.get("Action"), "kafka-cluster:Connect");
      assert.match(
        url.searchParams.get("X-Amz-Credential") ?? "",
        /^AKIDEXAMPLE\/\d{8}\/eu-west-1\/kafka-cluster\/aws4_request$/,
      );
      assert.match(url.searchParams.get("X-Amz-Signature") ?? "", /^[0-9a-f]{64}$/);
      assert.equal(url.searchParams.get("X-Amz-Expires"), "900");
      assert.equal(url.searchParams.get("X-Amz-Security-Token"), "session");
      assert.ok(!url.href.includes("s3cret"));
    }
  } finally {
    for (const name of [...Object.keys(surroundings), "AWS_REGION"]) delete process.env[name];
  }
});

test("without a region it says where to name one", async () => {
  const { AWS_REGION: before } = process.env;
  delete process.env.AWS_REGION;
  await assert.rejects(mskIamToken(undefined)(), { code: "missing-region", wayOut: /AWS_REGION/ });
  if (before !== undefined) process.env.AWS_REGION = before;
});
