import assert from "node:assert/strict";
import { S3ObjectStore } from "../../shared/adapters/s3/object-store.ts";
import { collect } from "../../shared/testing/collect.ts";
import { objectStoreConformance } from "../../shared/testing/object-store-conformance.ts";
import type { Fault } from "../support/emulator/fault-proxy.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { type Clients, createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { suite, test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 25 });

async function store(clients: Clients, prefix = "") {
  const bucket = await createBucket(aws.clients);
  return () => new S3ObjectStore({ client: clients.s3, bucket, prefix });
}

for (const [name, clients, prefix] of [
  ["S3", () => aws.clients, ""],
  ["S3, below a prefix and with faults", () => aws.faulty, "below/a/prefix/"],
] as const)
  suite(name, () =>
    objectStoreConformance(name, async () => {
      const open = await store(clients(), prefix);
      return { store: open(), another: async () => open(), dispose: async () => {} };
    }),
  );

test("there were faults", () => assert.ok(aws.proxy.count >= 10, `${aws.proxy.count}`));

const lostAnswers: readonly Fault[] = ["late broken", "late reset", "late silent", "conflict"];
const large = Buffer.alloc(20_000_000, "0123456789");

for (const fault of lostAnswers)
  test(`a put finds what it has made itself: ${fault}`, async () => {
    const open = await store(aws.faulty);
    aws.proxy.inject(fault, ({ headers }) => headers["if-none-match"] === "*");
    await open().put("k", [Buffer.from("one")]);
    assert.equal(Buffer.from((await open().get("k"))!).toString(), "one");
    await assert.rejects(open().put("k", [Buffer.from("one")]), { code: "object-exists" });
    aws.proxy.inject(fault, ({ method, headers }) => method === "POST" && headers["if-none-match"] === "*");
    await open().put("large", [large]);
    assert.ok(large.equals((await open().get("large"))!));
    await assert.rejects(open().put("large", [large]), { code: "object-exists" });
  });

test("a read that breaks off is made again", async () => {
  const open = await store(aws.faulty);
  await open().put("k", [large.subarray(0, 1_000_000)]);
  aws.proxy.inject("cut", ({ method }) => method === "GET", 2);
  assert.equal((await open().get("k"))?.length, 1_000_000);
});

test("more keys than one answer or one request holds are listed and deleted", async () => {
  const open = await store(aws.clients);
  const keys = Array.from({ length: 2100 }, (_, n) => `many/${n}`);
  for (let at = 0; at < keys.length; at += 100)
    await Promise.all(keys.slice(at, at + 100).map((key) => open().put(key, [])));
  assert.equal((await collect(open().list("many/"))).length, keys.length);
  await open().delete(keys);
  assert.deepEqual(await collect(open().list("")), []);
});

test("a bucket that is not there is named, with what to do", async () => {
  const none = new S3ObjectStore({ client: aws.clients.s3, bucket: "none" });
  await assert.rejects(none.get("k"), { kind: "infrastructure", code: "resource-missing", message: /s3:\/\/none\/k/ });
  await assert.rejects(none.put("k", []), { code: "resource-missing" });
});
