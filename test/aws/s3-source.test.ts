import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { createS3Source } from "../../shared/adapters/s3/source.ts";
import { sourceConformance } from "../../shared/testing/source-conformance.ts";
import { readValues, single, wholeRange } from "../../shared/testing/source-scenario.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { type Clients, createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { suite, test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 40 });

async function input(clients: Clients) {
  const Bucket = await createBucket(aws.clients);
  const keyOf = (name: string) => ({ Bucket, Key: `in/${name}.log` });
  const put = async (name: string, text: string | Uint8Array) => {
    await aws.clients.s3.send(new PutObjectCommand({ ...keyOf(name), Body: text }));
  };
  return {
    open: () => createS3Source({ client: clients.s3, bucket: Bucket, prefix: "in/" }),
    append: (name: string, values: readonly string[]) => put(name, values.map((value) => `${value}\n`).join("")),
    grows: false as const,
    put,
    remove: async (name: string) => {
      await aws.clients.s3.send(new DeleteObjectCommand(keyOf(name)));
    },
    close: async () => {},
  };
}

const losses: Parameters<typeof sourceConformance<Awaited<ReturnType<typeof input>>>>[2] = {
  "the object is gone": ({ remove }, name) => remove(name),
  "the object is gone, and another is there": async ({ put, remove }, name) => {
    await remove(name);
    await put("two", "other\n".repeat(1000));
  },
  "the object was replaced by a longer one": ({ put }, name) => put(name, "other\n".repeat(1000)),
  "the object was replaced by a shorter one": ({ put }, name) => put(name, "other\n"),
};

suite("S3", () => sourceConformance("S3", () => input(aws.clients), losses));
suite("S3, with faults", () => sourceConformance("S3, with faults", () => input(aws.faulty), losses));

test("there were faults", () => assert.ok(aws.proxy.count >= 10, `${aws.proxy.count}`));

test("an object that is replaced after it was read to its end is a new partition; before, a loss", async () => {
  const { open, append } = await input(aws.clients);
  await append("one", ["a"]);
  const [first] = await open().discover([]);
  await append("one", ["b", "c"]);
  const known = { id: first!.id, identity: first!.identity, position: first!.end };
  const [done, fresh] = await open().discover([known]);
  assert.deepEqual([done!.id, done!.end], [first!.id, first!.end]);
  assert.notEqual(fresh!.id, first!.id);
  assert.deepEqual(await readValues(open(), wholeRange(fresh!)), ["b", "c"]);
  await assert.rejects(open().discover([{ ...known, position: 0 }]), { code: "input-replaced", message: /s3:/ });
});

test("the last line needs no end; names that begin with . or _ and empty objects are left out", async () => {
  const { open, put } = await input(aws.clients);
  for (const name of ["a", "b/c", "_temporary/x", "b/.hidden"]) await put(name, `in ${name}\nlast`);
  await put("empty", "");
  const found = await open().discover([]);
  assert.deepEqual(found.map(({ id }) => id).sort(), ["a.log", "b/c.log"]);
  assert.deepEqual(await readValues(open(), wholeRange(found[0]!)), ["in a", "last"]);
});

test("compressed objects are refused by name", async () => {
  const { open, put } = await input(aws.clients);
  await put("zipped", gzipSync("text\n"));
  const [partition] = await open().discover([]);
  await assert.rejects(readValues(open(), wholeRange(partition!)), { code: "input-compressed", message: /zipped/ });
});

test("a line is placed by its number, and a range over several blocks is read whole", async () => {
  const { open, append } = await input(aws.clients);
  const values = Array.from({ length: 100_000 }, (_, n) => `${n} ${"x".repeat(100)}`);
  await append("one", values);
  const range = wholeRange(await single(open()));
  assert.deepEqual(await readValues(open(), range), values);
  const { to } = await open().cut(range, { records: 70_000 });
  assert.equal((await open().place?.(range, to))?.line, 70_001);
});
