import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import type { UserCodeError } from "../../errors.ts";
import { text } from "../../pipeline/decoders/text.ts";
import { csv } from "../../pipeline/encoders/csv.ts";
import { collect } from "../../testing/collect.ts";
import { sinkConformance } from "../../testing/sink-conformance.ts";
import { owner } from "../../testing/sink-scenario.ts";
import type { OutputOptions } from "../output/sink-options.ts";
import { readChunks, readEpochs, readManifests, readRows } from "./reader.ts";
import { createFilesSink } from "./sink.ts";

type Row = { n: number; text: string };
const columns = ["n", "text"] as const;
const parseRow = (row: string): Row => {
  const [n, value] = parse(row)[0] as [string, string];
  return { n: Number(n), text: value };
};

async function folder(context: { after(done: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "epochflow-formats-"));
  context.after(() => rm(path, { recursive: true }));
  return path;
}

for (const [title, output, read, badRow] of [
  [
    "in folders, as CSV, compressed",
    { partitionBy: "{text}", compression: "gzip", format: csv<Row>({ columns }) },
    parseRow,
    null,
  ],
  [
    "in folders, rolled",
    { partitionBy: "day={n:yyyy-MM-dd}", maxFileBytes: 40 },
    JSON.parse,
    { n: 1, toJSON: () => undefined },
  ],
] as const)
  sinkConformance(`files, ${title}`, async () => {
    const path = await mkdtemp(join(tmpdir(), "epochflow-formats-"));
    return {
      open: () => createFilesSink({ path, ...(output as OutputOptions) }),
      read: async () => (await collect(readRows(path))).map((row) => read(row)),
      row: (n) => ({ n, text: 'line\n"ü' }),
      badRow: badRow as unknown as Row,
      exclusive: true,
      close: async () => await rm(path, { recursive: true }),
    };
  });

/** Writes an epoch's rows in a task each, as the protocol does. */
async function write(path: string, options: OutputOptions, epoch: number, ...tasks: (readonly unknown[])[]) {
  const sink = createFilesSink({ path, ...options });
  await sink.open(owner);
  const refused: UserCodeError[] = [];
  const units = [];
  for (const [task, rows] of tasks.entries()) {
    const transaction = await sink.begin({ ...owner, epoch, attempt: 1, stage: 0, task, nonce: "n" });
    transaction.write(rows, (_, error) => refused.push(error));
    await transaction.drained();
    const unit = await sink.preCommit(transaction);
    if (unit !== undefined) units.push({ key: `0-${task}`, unit: JSON.parse(JSON.stringify(unit)) });
  }
  for (const unit of units) await sink.commit({ ...owner, epoch, ...unit, ledger: undefined as never });
  await sink.seal?.({ ...owner, epoch, units });
  return refused;
}

async function filesIn(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => name.includes("part-")).sort();
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, text: `row ${n}` }));

test("CSV: a header in each file, names of columns once for readers", async (context) => {
  const path = await folder(context);
  const format = csv<Row>({ columns, lineEnd: "\r\n" });
  await write(path, { format }, 1, [{ n: 1, text: "a\r\nb" }], [{ n: 2, text: "" }]);
  await write(path, { format }, 2, [{ n: 3, text: "c" }]);
  assert.equal(await readFile(join(path, "part-000000000001-0-0000.csv"), "utf8"), 'n,text\r\n1,"a\r\nb"\r\n');
  assert.deepEqual(await collect(readRows(path)), ['1,"a\r\nb"', '2,""', "3,c"]);
  const chunks = await collect(readChunks(path));
  assert.equal(Buffer.concat(chunks).toString(), 'n,text\r\n1,"a\r\nb"\r\n2,""\r\n3,c\r\n');
  // Other columns from now on.
  await write(path, { format: csv<Row>({ columns: ["text"] }) }, 3, [{ n: 4, text: "d" }]);
  assert.match(Buffer.concat(await collect(readChunks(path))).toString(), /3,c\r\ntext\nd\n$/);
});

test("text: a line a row; one with a line break is refused, and names the sink", async (context) => {
  const path = await folder(context);
  const rows = ["one", "t\nwo", "thr\ree", 5, "\ud800", "four"];
  const refused = await write(path, { format: text() }, 1, rows);
  assert.deepEqual(await collect(readRows(path)), ["one", "four"]);
  assert.equal(refused.length, 4);
  for (const error of refused)
    assert.ok(error.code === "row-not-text" && error.place.sink === owner.sink, error.message);
  const throwing = text(() => {
    throw new Error("no such row");
  });
  const [error] = await write(await folder(context), { format: throwing }, 1, ["x"]);
  assert.match(error!.message, /sink rows: a row cannot be written as a line of text: no such row/);
});

for (const [compression, suffix, decompress] of [
  ["gzip", ".gz", gunzipSync],
  ["zstd", ".zst", undefined],
] as const)
  test(`${compression}: what the usual tools read, and fewer bytes`, async (context) => {
    const path = await folder(context);
    const rows = numbers(20_000).map(({ n }) => ({ n, text: "the same in each row ".repeat(2) }));
    await write(path, { compression }, 1, rows);
    const [name] = await filesIn(path);
    assert.ok(name?.endsWith(`.jsonl${suffix}`));
    assert.equal((await collect(readRows(path))).join(), rows.map((row) => JSON.stringify(row)).join());
    const bytes = await readFile(join(path, name!));
    const [manifest] = await collect(readManifests(path));
    assert.equal(manifest?.files[0]?.bytes, bytes.length);
    assert.ok(bytes.length < 200_000);
    if (decompress) assert.equal(decompress(bytes).toString().split("\n").length, rows.length + 1);
    else assert.ok(zstdDecompressSync(bytes).length > 0);
    await write(path, { compression, maxFileBytes: 1 << 14 }, 2, rows);
    assert.ok((await filesIn(path)).length > 2);
    assert.equal((await collect(readRows(path))).length, 2 * rows.length);
  });

test("a file ends at its size, and the rows stay in order", async (context) => {
  const path = await folder(context);
  const rows = numbers(1000);
  await write(path, { maxFileBytes: 1000 }, 7, rows.slice(0, 600), rows.slice(600));
  const names = await filesIn(path);
  assert.equal(names[0], "part-000000000007-0-0000.jsonl");
  assert.equal(names[1], "part-000000000007-0-0000_0001.jsonl");
  assert.ok(names.length > 20);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(path, name))).length));
  assert.ok(sizes.filter((size) => size < 1000).length <= 2 && Math.max(...sizes) < 1100);
  assert.deepEqual(
    (await collect(readRows(path))).map((row) => JSON.parse(row)),
    rows,
  );
});

test("rows go to the folders of their fields; one without such a field is refused", async (context) => {
  const path = await folder(context);
  const options = { partitionBy: "{windowStart:yyyy/MM/dd}/{key}" };
  const at = Date.UTC(2026, 10, 30);
  const row = (key: unknown, n: number) => ({ windowStart: at, key, n });
  const refused = await write(
    path,
    options,
    1,
    [row("b", 1), row("A", 2), row("b", 3), { key: "b", n: 4 }],
    [row("b", 5)],
  );
  assert.deepEqual(await filesIn(path), [
    "2026/11/30/%41/part-000000000001-0-0000.jsonl",
    "2026/11/30/b/part-000000000001-0-0000.jsonl",
    "2026/11/30/b/part-000000000001-0-0001.jsonl",
  ]);
  assert.deepEqual(
    (await collect(readRows(path))).map((one) => JSON.parse(one).n),
    [2, 1, 3, 5],
  );
  assert.match(refused[0]!.message, /sink rows: a row has no place in its files: it has no field "windowStart"/);
  const epochs = [];
  for await (const { epoch, rows } of readEpochs(path)) epochs.push([epoch, (await collect(rows)).length]);
  assert.deepEqual(epochs, [[1, 4]]);
});

test("thousands of folders in an epoch need few open files, and little memory; too many are named", async (context) => {
  const path = await folder(context);
  const rows = Array.from({ length: 9000 }, (_, n) => ({ key: `k${n % 3000}`, text: "x".repeat(50) }));
  assert.deepEqual(await write(path, { partitionBy: "{key}" }, 1, rows), []);
  assert.equal((await filesIn(path)).length, 3000);
  assert.equal((await collect(readRows(path))).length, rows.length);
  const tooMany = Array.from({ length: 6000 }, (_, n) => ({ key: `k${n}` }));
  await assert.rejects(write(path, { partitionBy: "{key}" }, 2, tooMany), (error: UserCodeError) => {
    assert.deepEqual([error.kind, error.code], ["usage", "too-many-files"]);
    assert.match(error.wayOut ?? "", /fewer values/);
    return true;
  });
});

test("what is held in memory is bounded: the fullest files give theirs away, and come out whole", async (context) => {
  const path = await folder(context);
  const rows = Array.from({ length: 2000 }, (_, n) => ({
    key: n % 400,
    text: String(n).repeat(6000).slice(0, 20_000),
  }));
  await write(path, { partitionBy: "{key}" }, 1, rows);
  const read = (await collect(readRows(path))).map((row) => JSON.parse(row));
  assert.equal((await filesIn(path)).length, 400);
  const sorted = rows.toSorted((a, b) => (String(a.key) < String(b.key) ? -1 : Number(String(a.key) > String(b.key))));
  assert.deepEqual(read, sorted);
});

test("a reader goes on behind the epoch that it has seen", async (context) => {
  const path = await folder(context);
  for (const epoch of [1, 2, 5]) await write(path, {}, epoch, [`row of ${epoch}`]);
  assert.deepEqual(await collect(readRows(path, { after: 1 })), ['"row of 2"', '"row of 5"']);
  assert.deepEqual(await collect(readRows(path, { after: 5 })), []);
  await assert.rejects(collect(readRows(path, { after: 1.5 })), { code: "invalid-option" });
  await assert.rejects(collect(readRows(path, { afer: 1 } as object)), { code: "unknown-option" });
});

/** What the sink wrote before a task could have several files. */
test("a handle of one file is committed and sealed as it was", async (context: TestContext) => {
  const path = await folder(context);
  const sink = createFilesSink({ path });
  await sink.open(owner);
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "n" });
  transaction.write(["row"]);
  const unit = await sink.preCommit(transaction);
  const [{ file, rows, bytes, digest }] = unit!.files as [(typeof unit & object)["files"][0]];
  const staging = join(path, ".epochflow", "staging");
  const old = { staged: "conformance.ledger-1.rows.1.1.0.0.n.jsonl", file, rows, bytes, digest };
  await import("node:fs/promises").then(({ rename }) =>
    rename(join(staging, `${unit!.staged}.0`), join(staging, old.staged)),
  );
  const one = { key: "0-0", unit: old as never };
  await sink.commit({ ...owner, epoch: 1, ...one, ledger: undefined as never });
  await sink.seal?.({ ...owner, epoch: 1, units: [one] });
  assert.deepEqual(await collect(readRows(path)), ['"row"']);
  const manifest = await readFile(join(path, ".epochflow/manifests/000000000001.json"), "utf8");
  assert.equal(manifest, `${JSON.stringify({ epoch: 1, files: [{ file, rows, bytes, digest }] })}\n`);
});
