import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { InfrastructureError, LossError, UsageError } from "../../errors.ts";
import { collect } from "../../testing/collect.ts";
import { sinkConformance } from "../../testing/sink-conformance.ts";
import {
  commitLedger,
  owner,
  perform,
  performEpoch,
  SinkEpoch,
  type SinkUnderTest,
} from "../../testing/sink-scenario.ts";
import type { NamingSystem } from "./durable.ts";
import { readRows } from "./reader.ts";
import { createFilesSink } from "./sink.ts";

type Row = { n: number; text: string };

async function target(system?: NamingSystem): Promise<SinkUnderTest<Row> & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-sink-"));
  const path = join(folder, "a", "out");
  return {
    path,
    open: () => createFilesSink({ path }, system),
    read: async () => (await collect(readRows(path))).map((row) => JSON.parse(row)),
    row: (n) => ({ n, text: "line\n\u2028ü" }),
    badRow: { toJSON: () => undefined } as unknown as Row,
    exclusive: true,
    close: async () => await rm(folder, { recursive: true }),
  };
}

/** A file system without hard links, as `link` shows it. */
const withoutLinks: NamingSystem = {
  link: () => Promise.reject(Object.assign(new Error("EPERM: injected"), { code: "EPERM" })),
  rename,
};

sinkConformance("files", () => target());
sinkConformance("files, without hard links", () => target(withoutLinks));

async function given(context: TestContext, system?: NamingSystem) {
  const made = await target(system);
  const mounted: string[] = [];
  context.after(async () => {
    for (const folder of mounted) execFileSync("umount", [folder]);
    await made.close();
  });
  /** Mounts a file system of so many KiB; skips the test by name where that is not allowed. */
  const mount = (folder: string, kib: number): boolean => {
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", folder], { stdio: "ignore" });
    } catch {
      context.skip("this user may not mount a file system");
      return false;
    }
    mounted.push(folder);
    return true;
  };
  return { ...made, mount };
}

async function prepared(out: SinkUnderTest<Row>, number = 2) {
  const sink = out.open();
  const epoch = new SinkEpoch(out, number);
  await perform(epoch.prepare(sink, 1));
  epoch.decide(sink);
  return epoch;
}

test("what is published has names of epoch, stage and task; the manifest lists it", async (context) => {
  const out = await given(context);
  await performEpoch(out, 3);
  const names = ["part-000000000003-0-0000.jsonl", "part-000000000003-0-0002.jsonl"];
  assert.deepEqual((await readdir(out.path)).sort(), [".epochflow", ...names]);
  assert.deepEqual(await readdir(join(out.path, ".epochflow", "staging")), []);
  const manifest = JSON.parse(await readFile(join(out.path, ".epochflow", "manifests", "000000000003.json"), "utf8"));
  assert.equal(manifest.epoch, 3);
  assert.deepEqual(Object.keys(manifest), ["epoch", "files"]);
  assert.deepEqual(
    manifest.files.map(({ file }: { file: string }) => file),
    names,
  );
  assert.deepEqual(Object.keys(manifest.files[0]), ["file", "rows", "bytes", "digest"]);
  assert.equal(manifest.files[0].rows, 3);
});

test("bigints become text", async (context) => {
  const { path } = await given(context);
  const owner = { pipeline: "p", uid: "u", sink: "out" };
  const sink = createFilesSink({ path });
  await sink.open(owner);
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
  transaction.write([{ key: 12345678901234567890n, pair: ["1", 1n] }, { key: 1 }, -5n]);
  const unit = { key: "0-0", unit: (await sink.preCommit(transaction))! };
  await sink.commit({ ...owner, epoch: 1, ...unit, ledger: commitLedger(1, unit) });
  await sink.seal?.({ ...owner, epoch: 1, units: [unit] });
  const rows = await collect(readRows(path));
  assert.deepEqual(rows, ['{"key":"12345678901234567890","pair":["1","1"]}', '{"key":1}', '"-5"']);
});

test("two outputs of the same rows are the same bytes, but for the owner", async (context) => {
  const contents = [];
  for (const out of [await given(context), await given(context)]) {
    await performEpoch(out, 1);
    const files = (await readdir(out.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const texts = files.map(
      async ({ name, parentPath }) => [name, await readFile(join(parentPath, name), "utf8")] as const,
    );
    contents.push(new Map((await Promise.all(texts)).sort()));
  }
  assert.deepEqual(contents[0], contents[1]);
});

test("a large transaction is written as it goes", async (context) => {
  const out = await given(context);
  const sink = out.open();
  await sink.open(owner);
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce" });
  const rows = Array.from({ length: 1000 }, (_, n) => ({ n, text: "ü".repeat(1000) }));
  for (let batch = 0; batch < 10; batch += 1) {
    transaction.write(rows);
    await transaction.drained();
  }
  const unit = await sink.preCommit(transaction);
  assert.ok(unit);
  const context1 = { ...owner, epoch: 1 };
  await sink.commit({ ...context1, key: "0-0", unit, ledger: commitLedger(1, { unit }) });
  await sink.seal?.({ ...context1, units: [{ key: "0-0", unit }] });
  assert.deepEqual(await out.read(), Array.from({ length: 10 }, () => rows).flat());
});

test("a staged file that is gone is a loss, and says how to go on without it", async (context) => {
  const out = await given(context);
  const epoch = await prepared(out);
  const staging = join(out.path, ".epochflow", "staging");
  for (const name of await readdir(staging)) await rm(join(staging, name));
  await assert.rejects(perform(epoch.complete(out.open())), (error) => {
    assert.ok(error instanceof LossError && error.code === "staged-file-missing");
    assert.match(error.wayOut ?? "", /epochflow abandon --sink rows --epoch 2/);
    return true;
  });
});

test("a staged file of another length is a loss, before anybody sees it", async (context) => {
  const out = await given(context);
  const epoch = await prepared(out);
  const staging = join(out.path, ".epochflow", "staging");
  for (const name of await readdir(staging)) await writeFile(join(staging, name), "{}\n");
  await assert.rejects(perform(epoch.complete(out.open())), { code: "staged-file-damaged" });
  assert.deepEqual(await readdir(out.path), [".epochflow"]);
});

for (const [title, system] of [
  ["", undefined],
  [", without hard links", withoutLinks],
] as const) {
  test(`a foreign file of a final name is neither replaced nor taken for ours${title}`, async (context) => {
    const out = await given(context, system);
    const epoch = await prepared(out);
    const foreign = join(out.path, "part-000000000002-0-0000.jsonl");
    await writeFile(foreign, "mine\n");
    await assert.rejects(perform(epoch.complete(out.open())), { code: "output-name-taken" });
    assert.equal(await readFile(foreign, "utf8"), "mine\n");
    await rm(foreign);
    await perform(epoch.complete(out.open()));
    assert.deepEqual(await out.read(), epoch.rows);
  });
}

test("a handle that the sink did not make is refused", async (context) => {
  const out = await given(context);
  const epoch = await prepared(out);
  const sink = out.open();
  const [handle] = epoch.handles as { staged: string; files: { file: string }[] }[];
  assert.ok(handle);
  const name = handle.files[0]!.file;
  const named = (file: string) => ({ ...handle, files: [{ ...handle.files[0], file }] });
  await writeFile(join(out.path, "..", "victim"), "");
  const wrong = [
    null,
    { ...handle, staged: `../../../${handle.staged}` },
    { ...handle, staged: "../../../victim" },
    named("../victim"),
    named(`../out/${name}`),
    named(`.epochflow/${name}`),
    named("part-000000000003-0-0000.jsonl"),
    { ...handle, staged: handle.staged.replace("ledger-1", "ledger-2") },
  ];
  for (const unit of wrong) {
    await assert.rejects(
      sink.commit({ ...owner, epoch: 2, key: "0-0", unit: unit as never, ledger: commitLedger(2, { unit }) }),
      {
        code: "handle-invalid",
      },
    );
  }
  const later = { ...owner, epoch: 3, key: "0-0", unit: handle as never, ledger: commitLedger(3, { unit: handle }) };
  await assert.rejects(sink.commit(later), { code: "handle-invalid" });
  for (const unit of wrong.slice(0, 6)) await assert.rejects(sink.abort(unit as never), { code: "handle-invalid" });
  assert.ok((await readdir(join(out.path, ".."))).includes("victim"));
});

test("the owner of an output is named to another", async (context) => {
  const out = await given(context);
  await out.open().open(owner);
  await assert.rejects(out.open().open({ ...owner, uid: "ledger-2", sink: "late" }), (error) => {
    assert.ok(error instanceof LossError && error.code === "output-belongs-to-another");
    assert.match(error.message, /sink rows of pipeline conformance \(ledger ledger-1\).*sink late/);
    return true;
  });
  await writeFile(join(out.path, ".epochflow", "owner.json"), "{");
  await assert.rejects(out.open().open(owner), { code: "owner-mark-damaged" });
});

test("an output folder may hold other files; an output that is a file is refused", async (context) => {
  const out = await given(context);
  await mkdir(out.path, { recursive: true });
  await writeFile(join(out.path, "notes.txt"), "");
  await out.open().open(owner);
  const sink = createFilesSink({ path: join(out.path, "notes.txt") });
  await assert.rejects(
    sink.open(owner),
    (error) => error instanceof InfrastructureError && error.message.includes("notes.txt"),
  );
});

test("another file system mounted below the output is found before anything is decided", async (context) => {
  const out = await given(context);
  const sink = out.open();
  await sink.open(owner);
  if (!out.mount(join(out.path, ".epochflow", "staging"), 64)) return;
  const isNamed = (error: unknown) => error instanceof UsageError && error.code === "output-on-two-file-systems";
  await assert.rejects(perform(new SinkEpoch(out, 1).prepare(sink, 1).slice(1)), isNamed);
  await assert.rejects(out.open().open(owner), isNamed);
});

test("another file system mounted over staged files is not taken for their loss", async (context) => {
  const out = await given(context);
  const epoch = await prepared(out);
  if (!out.mount(join(out.path, ".epochflow", "staging"), 64)) return;
  const [, commit] = epoch.complete(out.open());
  await assert.rejects(commit?.() ?? Promise.resolve(), { code: "output-on-two-file-systems" });
});

test("a full disk is reported, and leaves room for another try", async (context) => {
  const out = await given(context);
  await mkdir(out.path, { recursive: true });
  if (!out.mount(out.path, 4096)) return;
  const sink = out.open();
  await sink.open(owner);
  const free = async () => (await statfs(out.path)).bavail;
  const before = await free();
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce" });
  const isFull = (error: unknown) =>
    error instanceof InfrastructureError && error.code === "disk-full" && error.message.includes(out.path);
  await assert.rejects(async () => {
    for (let batch = 0; batch < 100; batch += 1) {
      transaction.write(Array.from({ length: 1000 }, (_, n) => ({ n, text: "x".repeat(100) })));
      await transaction.drained();
    }
    await sink.preCommit(transaction);
  }, isFull);
  await transaction.discard?.();
  assert.equal(await free(), before);
  await performEpoch(out, 2);
});

test("a full disk at pre-commit leaves nothing behind", async (context) => {
  const out = await given(context);
  await mkdir(out.path, { recursive: true });
  if (!out.mount(out.path, 512)) return;
  const sink = out.open();
  await sink.open(owner);
  const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce" });
  transaction.write([{ n: 1, text: "x".repeat(1 << 20) }]);
  await assert.rejects(sink.preCommit(transaction), { code: "disk-full" });
  assert.deepEqual(await readdir(join(out.path, ".epochflow", "staging")), []);
});

test("options are checked", () => {
  for (const options of [{ path: "" }, { path: "x", fromat: "csv" }]) {
    assert.throws(() => createFilesSink(options as { path: string }), UsageError);
  }
});

/** Only where one of them has lost the lock on its state without knowing: a draft of the one is garbage to the other, and then its file does not come. */
test("two collectors at once, which take each other's drafts, lose and double nothing", async (context) => {
  const made = await given(context);
  const rows: Row[] = [];
  for (let epoch = 1; epoch <= 12; epoch++) rows.push(...(await performEpoch<Row>(made, epoch)).rows);
  const open = () => createFilesSink({ path: made.path, compact: { age: 1, grace: 1 } });
  const hour = 3_600_000;
  const collectOnce = async (round: number) => {
    const sink = open();
    await sink.sweep?.(owner, () => true);
    await sink.tidy?.(owner, { committed: 3000, now: Date.now() + round * hour });
  };
  for (let round = 0; round < 8; round++) {
    const ended = await Promise.allSettled([collectOnce(round), collectOnce(round), collectOnce(round)]);
    for (const one of ended) if (one.status === "rejected") assert.equal(one.reason.code, "folder-missing");
    assert.deepEqual(await made.read(), rows, `round ${round}`);
  }
  await collectOnce(9);
  assert.deepEqual(await readdir(join(made.path, ".epochflow", "staging")), []);
  assert.deepEqual(await readdir(join(made.path, ".epochflow", "manifests")), ["000000000000-000000000999.jsonl"]);
  assert.deepEqual(await made.read(), rows);
});
