import assert from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import type { NameOptions } from "../../shared/adapters/lines/file-names.ts";
import { createS3Source } from "../../shared/adapters/s3/source.ts";
import type { KnownPartition } from "../../shared/ports/source.ts";
import { sourceConformance } from "../../shared/testing/source-conformance.ts";
import { readValues, single, wholeRange } from "../../shared/testing/source-scenario.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { type Clients, createBucket } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { suite, test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 40 });

async function input(clients: Clients, options: NameOptions = {}) {
  const Bucket = await createBucket(aws.clients);
  const keyOf = (name: string) => ({ Bucket, Key: `in/${name}.log` });
  const put = async (name: string, text: string | Uint8Array) => {
    await aws.clients.s3.send(new PutObjectCommand({ ...keyOf(name), Body: text }));
  };
  return {
    open: () => createS3Source({ client: clients.s3, bucket: Bucket, prefix: "in/", ...options }),
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
suite("S3, compressed", () =>
  sourceConformance(
    "S3, compressed",
    async () => {
      const made = await input(aws.clients);
      const append = (name: string, values: readonly string[]) =>
        made.put(name, gzipSync(values.map((value) => `${value}\n`).join("")));
      return { ...made, append, splits: false as const };
    },
    losses,
  ));
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

test("compressed objects are read as what they say, whatever their names are", async () => {
  const { open, put } = await input(aws.clients);
  const values = Array.from({ length: 20_000 }, (_, n) => `${n} ${Math.sin(n)}`);
  const text = values.map((value) => `${value}\n`).join("");
  const half = Math.floor(text.length / 2);
  await put("gzip", Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]));
  await put("zstd", Buffer.concat([zstdCompressSync(text.slice(0, half)), zstdCompressSync(text.slice(half))]));
  await put("plain", text);
  const source = open();
  const found = await source.discover([]);
  assert.deepEqual(
    found.map(({ id, end }) => [id, end]),
    ["gzip.log", "plain.log", "zstd.log"].map((id) => [id, text.length]),
  );
  for (const one of found) {
    const { to } = await source.cut(wholeRange(one), { records: 15_000 });
    assert.deepEqual(await readValues(open(), { ...wholeRange(one), from: to }), values.slice(15_000), one.id);
    assert.equal((await source.place?.(wholeRange(one), to))?.line, 15_001);
  }
  await source.close();
});

test("a damaged object is a loss that names it, and gives no record", async () => {
  const { open, put } = await input(aws.clients);
  const bytes = gzipSync("some text\n".repeat(1000));
  for (const [damaged, code] of [
    [bytes.subarray(0, -3), "input-incomplete"],
    [Buffer.concat([bytes, Buffer.from("more")]), "input-damaged"],
  ] as const) {
    await put("a", damaged);
    await assert.rejects(open().discover([]), { name: "LossError", code, message: /s3:.*a\.log/ });
  }
});

test("each new object is a partition, whenever it comes and whatever its name; those that are over are remembered in few bytes", async () => {
  const { open, append, remove } = await input(aws.clients);
  const names = ["m", "z", "a", "k", "zz", "0"];
  const rows: string[] = [];
  let before: KnownPartition[] = [];
  for (const name of [...names, undefined, undefined]) {
    if (name !== undefined) await append(name, [`in ${name}`]);
    const source = open();
    const found = await source.discover(before);
    const positions = new Map(before.map((one) => [one.id, one.position]));
    for (const one of found) {
      const from = positions.get(one.id) ?? one.start;
      if (one.end > from) rows.push(...(await readValues(source, { ...wholeRange(one), from })));
    }
    // As Plan does it where nothing holds the watermark back.
    before = found.filter(({ isOver }) => !isOver).map(({ id, identity, end }) => ({ id, identity, position: end }));
  }
  assert.deepEqual(
    rows,
    names.map((name) => `in ${name}`),
  );
  assert.deepEqual(
    before.map(({ id }) => id),
    ["~finished"],
  );
  await remove("z");
  await append("a", ["anew"]);
  const later = await open().discover(before);
  assert.deepEqual(
    later.map(({ id }) => id),
    ["a.log", "~finished"],
  );
  assert.deepEqual(await readValues(open(), wholeRange(later[0]!)), ["anew"]);
});

test("of many objects some are looked at, and the others wait, and hold the watermark back", async () => {
  const { open, put } = await input(aws.clients);
  for (let n = 0; n < 20; n++) await put(`${n}`, gzipSync(`${n} ${"x".repeat(2 << 20)}\n`));
  const first = await open().discover([]);
  const waiting = first.filter(({ end, high }) => high > end);
  assert.ok(waiting.length > 0 && waiting.length < 20);
  const second = await open().discover(first.map(({ id, identity, end }) => ({ id, identity, position: end })));
  const partitions = second.filter(({ isRecord }) => !isRecord);
  assert.deepEqual(partitions.map(({ id }) => id).sort(), first.map(({ id }) => id).sort());
  assert.ok(partitions.every(({ end, high }) => end > 0 && end === high));
});

test("include and exclude choose objects by their names below the prefix", async () => {
  const { open, append } = await input(aws.clients, { include: ["2026/**", "*.csv.log"], exclude: "x*" });
  for (const name of ["2026/a", "2025/a", "b.csv", "2026/x", "2026/07/b"]) await append(name, ["1"]);
  assert.deepEqual(
    (await open().discover([])).map(({ id }) => id),
    ["2026/07/b.log", "2026/a.log", "b.csv.log"],
  );
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
