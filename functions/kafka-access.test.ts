import assert from "node:assert/strict";
import { test } from "node:test";
import { createSecureContext } from "node:tls";
import { inspect } from "node:util";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { EpochflowError } from "../shared/errors.ts";
import { Authority } from "../test/support/certificates.ts";
import { kafkaAccessOf } from "./kafka-access.ts";
import { SecretTexts } from "./secret-texts.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:AmazonMSK_words-AbCdEf";

/** A Secrets Manager with these secrets, by ARN. */
function secretsOf(values: Readonly<Record<string, string | Error>>) {
  const calls: string[] = [];
  const client = {
    send: async ({ input }: { input: { SecretId: string } }) => {
      calls.push(input.SecretId);
      const value = values[input.SecretId];
      if (value instanceof Error) throw value;
      return { SecretString: value };
    },
  } as unknown as SecretsManagerClient;
  return { calls, secrets: new SecretTexts(async () => client) };
}

test("a password is fetched when a connection is made, once for a while", async () => {
  const { calls, secrets } = secretsOf({ [arn]: JSON.stringify({ username: "alice", password: "p" }) });
  const access = kafkaAccessOf({ tls: true, sasl: { mechanism: "scram-sha-512", secret: arn } }, secrets);
  assert.deepEqual(calls, []);
  assert.deepEqual(access.tls, {});
  assert.ok(access.sasl && "username" in access.sasl);
  assert.deepEqual([await access.sasl.username(), await access.sasl.password()], ["alice", "p"]);
  assert.deepEqual(calls, [arn]);
});

test("certificates come from secrets as AWS has them; a key without passphrase is one", async () => {
  using authority = new Authority("words");
  const { certificate, key } = authority.sign("words");
  const { secrets } = secretsOf({
    ca: JSON.stringify({ certificate: authority.certificate }),
    own: JSON.stringify({ certificate, privateKey: key }),
  });
  const { tls } = kafkaAccessOf({ tls: true, ca: "ca", clientCertificate: "own" }, secrets);
  createSecureContext({
    ca: await tls?.ca?.(),
    cert: await tls?.certificate?.(),
    key: await tls?.key?.(),
    passphrase: await tls?.passphrase?.(),
  });
});

test("without settings a connection is plain; by IAM it has a token", () => {
  assert.deepEqual(kafkaAccessOf({ tls: false }), {});
  const { sasl } = kafkaAccessOf({ tls: true, sasl: { mechanism: "aws-msk-iam", region: "eu-west-1" } });
  assert.equal(sasl?.mechanism, "oauthbearer");
});

test("a secret that is missing or odd is told by its ARN and key, never by what is in it", async () => {
  const hidden = "s3cret-value";
  const denied = Object.assign(new Error("not authorized to perform GetSecretValue"), {
    name: "AccessDeniedException",
  });
  const failure = async (value: string | Error) => {
    const { calls, secrets } = secretsOf({ [arn]: value });
    const error = await secrets.text(arn, "password").then(assert.fail, (thrown: unknown) => thrown);
    assert.ok(error instanceof EpochflowError);
    assert.ok(error.message.includes(arn) && !inspect(error).includes(hidden), inspect(error));
    await assert.rejects(secrets.text(arn, "password"));
    assert.equal(calls.length, value === hidden || value instanceof Error ? 2 : 1, "a failure is not kept");
    return [error.code, error.message.replace(arn, "ARN")];
  };
  assert.deepEqual(await failure(denied), [
    "secret-unavailable",
    "The secret ARN cannot be had (AccessDeniedException)",
  ]);
  assert.deepEqual(await failure(hidden), ["odd-secret", "The secret ARN is no JSON object"]);
  for (const fields of [{ passwort: hidden }, { password: { hidden } }, { password: "" }])
    assert.deepEqual(await failure(JSON.stringify(fields)), ["odd-secret", 'The secret ARN has no text "password"']);
});
