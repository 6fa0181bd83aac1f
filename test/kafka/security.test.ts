import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { KafkaClient } from "../../shared/adapters/kafka/client.ts";
import { resolveConnection } from "../../shared/adapters/kafka/connection/connection.ts";
import { KafkaError } from "../../shared/adapters/kafka/errors.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { describeError, UsageError } from "../../shared/errors.ts";
import { connection, type KafkaConnectionOptions } from "../../shared/pipeline/connectors/kafka-connection.ts";
import { environment } from "../../shared/pipeline/secret.ts";
import { Authority, encryptKey, type KeyPair } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type KafkaBroker, kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { type Oracle, startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";

const { after, before, describe, test } = await needing(aBroker);

const password = "s3cret-of-alice";
const passphrase = "s3cret-of-the-key";
const secrets = [password, passphrase, "wrong-s3cret", "PRIVATE KEY-----"];
const timeouts = { connectMs: 20_000, callMs: 30_000 };

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A JSON web token that nobody has signed, as Kafka's own handler for tests takes it. */
const tokenOf = (user: string, seconds = 3600): string => {
  const now = Math.floor(Date.now() / 1000);
  return `${base64({ alg: "none" })}.${base64({ sub: user, iat: now, exp: now + seconds })}.`;
};

const pem = ({ certificate, key }: KeyPair, { certificate: ca }: Authority): Record<string, string> => ({
  "ssl.keystore.type": "PEM",
  "ssl.keystore.certificate.chain": certificate,
  "ssl.keystore.key": key,
  "ssl.truststore.type": "PEM",
  "ssl.truststore.certificates": ca,
});

const modules = "org.apache.kafka.common.security";
const sasl = {
  "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
  "plain.sasl.jaas.config": `${modules}.plain.PlainLoginModule required user_alice="${password}" user_bob="${password}";`,
  "scram-sha-256.sasl.jaas.config": `${modules}.scram.ScramLoginModule required;`,
  "scram-sha-512.sasl.jaas.config": `${modules}.scram.ScramLoginModule required;`,
  "oauthbearer.sasl.jaas.config": `${modules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
};
const scramUser = (mechanism: string) => ["--add-scram", `${mechanism}=[name=alice,password=${password}]`];
const listener = (name: string, settings: Record<string, string>) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`listener.name.${name}.${key}`, value]));

for (const version of kafkaVersions) {
  describe(`Kafka ${version} with security`, () => {
    let broker: KafkaBroker;
    let oracle: Oracle;
    let authority: Authority;
    let stranger: Authority;
    let carol: KeyPair;
    const clients: KafkaClient[] = [];

    before(async () => {
      authority = new Authority("authority");
      stranger = new Authority("stranger");
      carol = authority.sign("carol");
      const server = pem(authority.sign("broker", ["IP:127.0.0.1", "DNS:broker.test"]), authority);
      broker = await startKafka({
        version,
        listeners: { TLS: "SSL", MUTUAL: "SSL", SASL: "SASL_PLAINTEXT", BOTH: "SASL_SSL", SHORT: "SASL_PLAINTEXT" },
        settings: {
          ...listener("tls", server),
          ...listener("mutual", { ...server, "ssl.client.auth": "required" }),
          ...listener("sasl", sasl),
          ...listener("both", { ...server, ...sasl }),
          ...listener("short", sasl),
          ...Object.fromEntries(
            ["plain", "scram-sha-256", "oauthbearer"].map((name) => [
              `listener.name.short.${name}.connections.max.reauth.ms`,
              "4500",
            ]),
          ),
          "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
          "super.users": "User:ANONYMOUS;User:alice;User:CN=carol",
        },
        format: [...scramUser("SCRAM-SHA-256"), ...scramUser("SCRAM-SHA-512")],
      });
      oracle = await startOracle(broker.bootstrap, { version });
      await oracle.createTopic("t", 1);
    });
    after(async () => {
      for (const client of clients) await client.close();
      await oracle.close();
      await broker.stop();
      authority[Symbol.dispose]();
      stranger[Symbol.dispose]();
    });

    const clientOf = (
      name: string,
      options: Omit<KafkaConnectionOptions, "brokers">,
      address = broker.addresses[name]!,
    ) => {
      const client = createKafkaClient(resolveConnection(connection({ brokers: address, ...options })), timeouts);
      clients.push(client);
      return client;
    };
    const works = async (client: KafkaClient) => assert.equal((await client.topics(["t"])).length, 1);

    /** The error that a call fails with; no secret is in it. */
    const failure = async (call: Promise<unknown>, code: string): Promise<KafkaError | UsageError> => {
      const error = await call.then(
        () => assert.fail(`no ${code}`),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof KafkaError || error instanceof UsageError, inspect(error));
      assert.equal(error.code, code, error.message);
      const shown = `${JSON.stringify(describeError(error))} ${inspect(error, { depth: 10, showHidden: true })}`;
      for (const secret of secrets) assert.ok(!shown.includes(secret), shown);
      return error;
    };

    test("TLS with the authority as a text or a file", async () => {
      await works(clientOf("TLS", { tls: { ca: authority.certificate } }));
      using folder = temporaryFolder();
      const file = join(folder.path, "ca.pem");
      writeFileSync(file, authority.certificate);
      await works(clientOf("TLS", { tls: { ca: file } }));
    });

    test("TLS that does not trust the broker, or is not spoken there, says so", async () => {
      const untrusted = await failure(
        clientOf("TLS", { tls: { ca: stranger.certificate } }).topics(null),
        "kafka-tls-failed",
      );
      assert.match(untrusted.message, new RegExp(`TLS with Kafka broker ${broker.addresses.TLS} failed`));
      assert.match(untrusted.wayOut ?? "", /`ca` of `tls`/);
      await failure(clientOf("TLS", { tls: true }).topics(null), "kafka-tls-failed");
      const misnamed = clientOf("TLS", { tls: { ca: authority.certificate, servername: "other.test" } });
      assert.match((await failure(misnamed.topics(null), "kafka-tls-failed")).wayOut ?? "", /servername/);
      await works(clientOf("TLS", { tls: { ca: authority.certificate, servername: "broker.test" } }));

      const { bootstrap } = broker;
      const plain = await failure(clientOf("PLAINTEXT", { tls: true }).topics(null), "kafka-disconnected");
      assert.match(plain.message, new RegExp(bootstrap));
      assert.match(plain.wayOut ?? "", /set to TLS and no SASL/);
      const missing = await failure(clientOf("TLS", {}).topics(null), "kafka-disconnected");
      assert.match(missing.wayOut ?? "", /set to no TLS/);
      await failure(clientOf("TLS", { tls: { ca: "no/such/file.pem" } }).topics(null), "unreadable-pem");
      await failure(
        clientOf("TLS", { tls: { ca: "-----BEGIN CERTIFICATE-----\nnone\n" } }).topics(null),
        "kafka-tls-failed",
      );
    });

    test("TLS with a client certificate, its key encrypted or not", async () => {
      const ca = authority.certificate;
      await works(clientOf("MUTUAL", { tls: { ca, ...carol } }));
      const key = () => encryptKey(carol.key, passphrase);
      await works(clientOf("MUTUAL", { tls: { ca, certificate: carol.certificate, key, passphrase } }));
      const wrong = { ca, certificate: carol.certificate, key, passphrase: "wrong-s3cret" };
      await failure(clientOf("MUTUAL", { tls: wrong }).topics(null), "kafka-tls-failed");
      const none = await failure(clientOf("MUTUAL", { tls: { ca } }).topics(null), "kafka-tls-failed");
      assert.match(none.wayOut ?? "", /client certificate/);
      await failure(clientOf("MUTUAL", { tls: { ca, ...stranger.sign("mallory") } }).topics(null), "kafka-tls-failed");
    });

    for (const mechanism of ["plain", "scram-sha-256", "scram-sha-512"] as const) {
      test(`SASL ${mechanism}, over TLS and without`, async () => {
        const given = { mechanism, username: "alice", password };
        await works(clientOf("SASL", { sasl: given }));
        await works(clientOf("BOTH", { tls: { ca: authority.certificate }, sasl: given }));
        const wrong = clientOf("SASL", { sasl: { ...given, password: "wrong-s3cret" } });
        const refused = await failure(wrong.topics(null), "kafka-authentication-failed");
        assert.match(
          refused.message,
          new RegExp(`${broker.addresses.SASL} refuses the login by SASL ${mechanism}`, "i"),
        );
      });
    }

    test("SASL OAUTHBEARER by a function", async () => {
      let asked = 0;
      const token = async () => tokenOf("alice", 3600 + asked++);
      const client = clientOf("SASL", {
        sasl: { mechanism: "oauthbearer", token, extensions: { logicalCluster: "lkc" } },
      });
      await works(client);
      assert.ok(asked > 0);
      const expired = clientOf("SASL", { sasl: { mechanism: "oauthbearer", token: () => tokenOf("alice", -3600) } });
      assert.match((await failure(expired.topics(null), "kafka-authentication-failed")).message, /invalid_token/);
      const broken = () => {
        throw new Error(`cannot read ${password}`);
      };
      const failing = clientOf("SASL", { sasl: { mechanism: "oauthbearer", token: broken } });
      const error = await failing.topics(null).catch((thrown: unknown) => thrown as KafkaError);
      assert.ok(error instanceof KafkaError);
      assert.ok(!JSON.stringify(error.describe()).includes(password));
      assert.match(error.message, /could not be fetched/);
    });

    test("SASL OAUTHBEARER by client credentials", async () => {
      const asked: string[] = [];
      await using server = createServer((request, response) => {
        asked.push(`${request.headers.authorization}`);
        const isRight = request.headers.authorization === `Basic ${Buffer.from(`app:${password}`).toString("base64")}`;
        response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
        response.end(
          JSON.stringify(isRight ? { access_token: tokenOf("alice"), expires_in: 3600 } : { error: password }),
        );
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const tokenEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
      const given = { mechanism: "oauthbearer", tokenEndpoint, clientId: "app" } as const;
      const client = clientOf("SASL", { sasl: { ...given, clientSecret: password } });
      await works(client);
      await client.offsets([{ topic: "t", partition: 0 }], "earliest");
      await client.initProducer("oauth", 1_000);
      assert.equal(asked.length, 1);
      const wrong = clientOf("SASL", { sasl: { ...given, clientSecret: "wrong-s3cret" } });
      assert.match((await failure(wrong.topics(null), "kafka-authentication-failed")).message, /token answers 401/);
      const nowhere = { ...given, tokenEndpoint: "http://127.0.0.1:1/token", clientSecret: password };
      await failure(clientOf("SASL", { sasl: nowhere }).topics(null), "kafka-authentication-failed");
    });

    test("a login by another mechanism, or none, says what is wrong", async () => {
      const none = await failure(clientOf("SASL", {}).topics(null), "kafka-disconnected");
      assert.match(none.wayOut ?? "", /no TLS and no SASL/);
      const given = { mechanism: "plain", username: "alice", password } as const;
      await failure(clientOf("PLAINTEXT", { sasl: given }).topics(null), "kafka-authentication-failed");
    });

    test("secrets come from the environment when a connection is made", async () => {
      const name = "EPOCHFLOW_TEST_PASSWORD";
      const given = {
        mechanism: "plain",
        username: environment("EPOCHFLOW_TEST_USER"),
        password: environment(name),
      } as const;
      const client = clientOf("SASL", { sasl: given });
      process.env.EPOCHFLOW_TEST_USER = "alice";
      const missing = await failure(client.topics(null), "missing-environment");
      assert.match(missing.message, new RegExp(name));
      process.env[name] = password;
      await works(client);
      delete process.env[name];
    });

    test("a session that ends is renewed", async () => {
      const client = clientOf("SHORT", { sasl: { mechanism: "oauthbearer", token: () => tokenOf("alice") } });
      // The broker ends a session after 4.5 seconds.
      for (let round = 0; round < 16; round++) {
        await Promise.all([works(client), client.offsets([{ topic: "t", partition: 0 }], "earliest"), works(client)]);
        await sleep(400);
      }
    });

    test("what a user may not do is named, with the right that is missing", async () => {
      const client = clientOf("SASL", { sasl: { mechanism: "plain", username: "bob", password } });
      assert.deepEqual(await client.topics(null), []);
      const topic = await failure(client.topics(["t"]), "kafka-topic-authorization-failed");
      assert.match(topic.message, /Metadata of t/);
      assert.match(topic.wayOut ?? "", /DESCRIBE and READ/);
      await failure(client.offsets([{ topic: "t", partition: 0 }], "earliest"), "kafka-topic-authorization-failed");
      await failure(client.groupOffset("g", "t"), "kafka-group-authorization-failed");
      const id = await failure(client.initProducer("x", 1_000), "kafka-transactional-id-authorization-failed");
      assert.match(id.message, /InitProducerId of x|transaction x/);
      await failure(client.brokerConfiguration(["offsets.retention.minutes"]), "kafka-cluster-authorization-failed");
      await failure(client.topicConfiguration("t", ["max.message.bytes"]), "kafka-topic-authorization-failed");
      assert.equal(await client.verifiesTransactions(), true);
    });
  });
}
