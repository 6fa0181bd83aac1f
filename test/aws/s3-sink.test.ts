import assert from "node:assert/strict";
import {
  AbortMultipartUploadCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { sealEpoch } from "../../shared/adapters/output/sealing.ts";
import { tidy } from "../../shared/adapters/output/tidying.ts";
import { Bucket } from "../../shared/adapters/s3/bucket.ts";
import { BucketStore } from "../../shared/adapters/s3/bucket-store.ts";
import { OutputPlace } from "../../shared/adapters/s3/output-place.ts";
import { readManifests, readRows } from "../../shared/adapters/s3/reader.ts";
import { createS3FilesSink } from "../../shared/adapters/s3/sink.ts";
import type { Json } from "../../shared/json.ts";
import { collect } from "../../shared/testing/collect.ts";
import { sinkConformance } from "../../shared/testing/sink-conformance.ts";
import { commitLedger, owner, perform, performEpoch, SinkEpoch } from "../../shared/testing/sink-scenario.ts";
import type { AwsRequest } from "../support/emulator/aws-answers.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { type S3Target, s3Target } from "../support/emulator/s3-target.ts";
import { type Clients, createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { suite, test } = await needing(anEmulator);

const isStart = ({ method, url }: AwsRequest) => method === "POST" && /[?&]uploads/.test(url);
/** An upload whose id got lost is nobody's, and waits for its sweep: the suite wants to see none. */
const aws = useEmulator({ seed: 1, oneIn: 40, spare: (request, fault) => isStart(request) && /late|cut/.test(fault) });

async function target(clients: Clients): Promise<S3Target> {
  return s3Target({ client: clients.s3, bucket: await createBucket(aws.clients), prefix: "a/out" });
}

suite("S3", () => sinkConformance("S3", () => target(aws.clients)));
suite("S3, with faults", () => sinkConformance("S3, with faults", () => target(aws.faulty)));

test("there were faults", () => assert.ok(aws.proxy.count >= 10, `${aws.proxy.count}`));

async function prepared(out: S3Target, number = 2) {
  const sink = out.open();
  const epoch = new SinkEpoch(out, number);
  await perform(epoch.prepare(sink, 1));
  epoch.decide(sink);
  return epoch;
}

async function keysOf({ options }: S3Target) {
  const found = await collect(new Bucket(options.client, options.bucket).list(""));
  return found.map(({ key }) => key).sort();
}

test("what is published has names of epoch, stage and task; the manifest lists it", async () => {
  const out = await target(aws.clients);
  await performEpoch(out, 3);
  const names = ["part-000000000003-0-0000.jsonl", "part-000000000003-0-0002.jsonl"];
  const own = ["a/out/.epochflow/manifests/000000000003.json", "a/out/.epochflow/owner.json"];
  assert.deepEqual(await keysOf(out), [...own, ...names.map((name) => `a/out/${name}`)]);
  const [manifest] = await collect(readManifests(out.options));
  assert.deepEqual(
    manifest?.files.map(({ file, rows }) => [file, rows]),
    names.map((name) => [name, 3]),
  );
});

test("many rows are parts of one upload, and come back the same", async () => {
  const out = await target(aws.clients);
  const sink = out.open();
  await sink.open(owner);
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "n" });
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, text: "x".repeat(1000) }));
  for (let at = 0; at < rows.length; at += 1000) {
    transaction.write(rows.slice(at, at + 1000));
    await transaction.drained();
  }
  const unit = (await sink.preCommit(transaction)) as { files: { parts: unknown[] }[] } & Record<string, never>;
  assert.deepEqual(
    unit.files.map(({ parts }) => parts.length),
    [3],
  );
  const one = { key: "0-0", unit };
  await sink.commit({ ...owner, epoch: 1, ...one, ledger: commitLedger(1, one) });
  await sink.seal?.({ ...owner, epoch: 1, units: [one] });
  assert.deepEqual(await out.read(), rows);
});

test("an upload that is gone with no object in its place is a loss; another object there is one, too", async () => {
  const out = await target(aws.clients);
  const { client, bucket } = out.options;
  const gone = await prepared(out, 2);
  for (const { key, upload } of await collect(new Bucket(client, bucket).uploads("")))
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: upload }));
  await assert.rejects(perform(gone.complete(out.open())), { kind: "loss", code: "staged-file-missing" });

  const taken = await prepared(out, 4);
  const Key = "a/out/part-000000000004-0-0001.jsonl";
  await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "mine" }));
  await assert.rejects(perform(taken.complete(out.open())), { kind: "loss", code: "output-name-taken" });
});

for (const fault of ["late broken", "late reset", "late silent"] as const)
  test(`a completion whose answer is lost is found done: ${fault}`, async () => {
    const out = await target(aws.faulty);
    const epoch = await prepared(out);
    aws.proxy.inject(fault, ({ method, url }) => method === "POST" && /uploadId=/.test(url), 2);
    await perform(epoch.complete(out.open()));
    assert.equal((await out.read()).length, epoch.rows.length);
  });

test("an upload whose id got lost is swept once its epoch is committed", async () => {
  const out = await target(aws.faulty);
  aws.proxy.inject("late reset", isStart);
  await performEpoch(out, 2);
  const sink = out.open();
  assert.equal(await sink.sweep?.(owner, ({ epoch }) => epoch < 2), 0);
  assert.equal(await sink.sweep?.(owner, ({ epoch }) => epoch <= 2), 1);
  assert.equal(await sink.sweep?.(owner, () => true), 0);
});

test("a handle that names another place is refused", async () => {
  const out = await target(aws.clients);
  const [handle] = (await prepared(out)).handles as { files: Record<string, string>[] }[];
  const changes = [{ file: "../x" }, { parts: "x" }, { upload: 5 }, { bytes: "x" }];
  const wrong = changes.map((change) => ({ files: [{ ...handle!.files[0], ...change }] }));
  for (const change of [{ staged: "x" }, ...wrong]) {
    const unit = { ...handle, ...change } as Json;
    const commit = { ...owner, epoch: 2, key: "0-0", unit, ledger: commitLedger(2, { unit }) };
    await assert.rejects(out.open().commit(commit), { code: "handle-invalid" }, JSON.stringify(change));
  }
});

test("old manifests are rolled up, and read the same", async () => {
  const out = await target(aws.clients);
  const place = new BucketStore(new OutputPlace("test", out.options));
  await out.open().open(owner);
  const file = { file: "part-000000000001-0-0000.jsonl", rows: 0, bytes: 0, digest: "x" };
  for (let epoch = 1; epoch <= 9; epoch++) {
    await sealEpoch(place, owner, epoch, [file], 3);
    await tidy(place, undefined, { committed: epoch, now: Date.now(), blockEpochs: 3 });
  }
  await sealEpoch(place, owner, 1, [file], 3);
  assert.deepEqual(
    (await collect(readManifests(out.options))).map(({ epoch }) => epoch),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.ok((await keysOf(out)).some((key) => key.endsWith("000000000003-000000000005.jsonl")));
  await assert.rejects(sealEpoch(place, owner, 9, [], 3), { code: "manifest-differs" });
});

test("rows go to folders by their fields; compressed and rolled files come back the same", async () => {
  const { options } = await target(aws.clients);
  const make = () => createS3FilesSink({ ...options, partitionBy: "{n}", compression: "gzip", maxFileBytes: 100 });
  const out: S3Target = { ...(await target(aws.clients)), options, open: make };
  const read = async () => (await collect(readRows(options))).map((row) => JSON.parse(row));
  const epochs = [await performEpoch(out, 1), await performEpoch(out, 2)];
  assert.deepEqual(
    await read(),
    epochs.flatMap(({ rows }) => rows),
  );
  assert.ok((await keysOf(out)).includes("a/out/1000/part-000000000001-0-0000.jsonl.gz"));
});

test("small files are merged, large ones as uploads; what was replaced goes after the grace time", async () => {
  const out = await target(aws.clients);
  const sink = (grace: number) => createS3FilesSink({ ...out.options, compact: { bytes: 1 << 26, age: 1, grace } });
  const epochs = [];
  for (const number of [1, 2, 3]) epochs.push(await performEpoch(out, number));
  const big = sink(0);
  await big.open(owner);
  const transaction = await big.begin({ ...owner, epoch: 4, attempt: 1, stage: 0, task: 0, nonce: "n" });
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ n, text: "x".repeat(1000) }));
  transaction.write(rows);
  const one = { key: "0-0", unit: (await big.preCommit(transaction))! };
  await big.commit({ ...owner, epoch: 4, ...one, ledger: commitLedger(4, one) });
  await big.seal?.({ ...owner, epoch: 4, units: [one] });
  const expected = [...epochs.flatMap((epoch) => epoch.rows), ...rows].map((row) => JSON.stringify(row)).join();
  const read = async () => (await collect(readRows(out.options))).join();
  const later = Date.now() + 60_000;
  assert.equal(await sink(3_600_000).tidy?.(owner, { committed: 4, now: later }), 0);
  assert.equal(await read(), expected);
  const merged = "a/out/part-000000000000-000000000004.jsonl";
  assert.ok((await keysOf(out)).includes(merged));
  assert.ok(((await sink(0).tidy?.(owner, { committed: 4, now: later })) ?? 0) > 6);
  assert.equal(await read(), expected);
  assert.deepEqual(
    (await keysOf(out)).filter((key) => !key.includes(".epochflow")),
    [merged],
  );
  assert.equal((await collect(new Bucket(out.options.client, out.options.bucket).uploads(""))).length, 0);
});

test("a sweep leaves the uploads of an output below this one alone", async () => {
  const outer = await target(aws.clients);
  await outer.open().open(owner);
  const inner: S3Target = { ...outer, options: { ...outer.options, prefix: "a/out/late" } };
  const open = () => createS3FilesSink(inner.options, 500);
  const epoch = new SinkEpoch({ ...inner, open }, 2);
  await perform(epoch.prepare(open(), 1));
  epoch.decide(open());
  assert.equal(await outer.open().sweep?.(owner, () => true), 0);
  await perform(epoch.complete(open()));
});

test("a lifecycle rule that would lose rows is refused, by name; others are not", async () => {
  const days = { Expiration: { Days: 1 } };
  const uploads = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } };
  const rules: [LifecycleRule, refused: boolean][] = [
    [{ ID: "all", Status: "Enabled", Filter: {}, ...days }, true],
    [{ ID: "uploads", Status: "Enabled", Filter: { Prefix: "a/" }, ...uploads }, true],
    [{ ID: "below", Status: "Enabled", Filter: { Prefix: "a/out/part-" }, ...days }, true],
    [{ ID: "off", Status: "Disabled", Filter: {}, ...days }, false],
    [{ ID: "beside", Status: "Enabled", Filter: { Prefix: "a/outer" }, ...uploads }, false],
    [{ ID: "tagged", Status: "Enabled", Filter: { Tag: { Key: "k", Value: "v" } }, ...days }, false],
  ];
  for (const [rule, refused] of rules) {
    const out = await target(aws.clients);
    const LifecycleConfiguration = { Rules: [rule] };
    await out.options.client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: out.options.bucket, LifecycleConfiguration }),
    );
    const opened = out.open().open(owner);
    if (refused) await assert.rejects(opened, { kind: "usage", code: "bucket-lifecycle", message: RegExp(rule.ID!) });
    else await opened;
  }
});

test("a place that is no output is named", async () => {
  const { options } = await target(aws.clients);
  await assert.rejects(collect(readRows(options)), { kind: "usage", code: "not-an-output" });
});
