/** A replay that ends before or after any step, and another one that goes on. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FileSystemObjectStore } from "../../shared/adapters/filesystem/object-store.ts";
import { ReplayJournal } from "../../shared/adapters/sqlite/replay-journal.ts";
import type { TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import { folderOf } from "../../test/support/folder.ts";
import { type FailedRecord, parseLetter } from "./letter.ts";
import { createLinesSink } from "./lines-sink.ts";
import { BatchCommitter } from "./two-phase.ts";

type Step = "begin" | "preCommit" | "commit";
type Crash = { readonly step: Step; readonly when: "before" | "after" };

const owner = { pipeline: "replay", uid: "u1", sink: "records" };
const never = () => assert.fail("nothing is refused");

function recordOf(value: string | { base64: string } | null, offset = 0): FailedRecord {
  const text = JSON.stringify({
    error: "e",
    operator: "o",
    partition: "in.txt",
    offset,
    value,
    record: { source: "files" },
  });
  return parseLetter(text)!.record as FailedRecord;
}

function crashing(sink: TwoPhaseCommitSink<FailedRecord>, { step, when }: Crash): TwoPhaseCommitSink<FailedRecord> {
  const call = sink[step] as (argument: unknown) => Promise<unknown>;
  const crashed = async (argument: unknown) => {
    if (when === "after") await call.call(sink, argument);
    throw new Error("crash");
  };
  return { ...sink, [step]: crashed };
}

function place(context: TestContext) {
  const root = folderOf(context);
  const out = join(root, "out");
  const sink = createLinesSink(
    out,
    new FileSystemObjectStore(join(root, "objects")),
  ) as unknown as TwoPhaseCommitSink<FailedRecord>;
  return { root, out, sink, journal: () => ReplayJournal.open(join(root, "journal.db")) };
}

const linesIn = (out: string) =>
  readdirSync(out).flatMap((name) => readFileSync(join(out, name), "utf8").split("\n").slice(0, -1));

const records = ["a", "b", "c"].map((value, index) => recordOf(value, index));

for (const step of ["begin", "preCommit", "commit"] as const)
  for (const when of ["before", "after"] as const)
    test(`each record is put back once, when a replay dies ${when} ${step}`, async (context) => {
      const { out, sink, journal } = place(context);
      {
        using first = journal();
        const committer = new BatchCommitter(first, crashing(sink, { step, when }), owner);
        await committer.open();
        await assert.rejects(committer.put(records, never), /crash/);
      }
      using second = journal();
      const committer = new BatchCommitter(second, sink, owner);
      assert.equal(await committer.open(), step === "commit" ? 1 : 0);
      const rest = records.filter(({ id }) => !second.has(id));
      assert.equal(rest.length, step === "commit" ? 0 : 3);
      if (rest.length > 0) await committer.put(rest, never);
      assert.deepEqual(linesIn(out), ["a", "b", "c"]);
      assert.equal(second.lastCommitted(), 1);
    });

test("what is no line is refused, and is not taken for put back", async (context) => {
  const { out, sink, journal } = place(context);
  using made = journal();
  const committer = new BatchCommitter(made, sink, owner);
  await committer.open();
  const bad = [recordOf("two\nlines", 1), recordOf(null, 2)];
  const reasons: string[] = [];
  const count = await committer.put([bad[0]!, recordOf({ base64: "/w==" }), bad[1]!], (_, { message }) =>
    reasons.push(message),
  );
  assert.equal(count, 1);
  assert.match(reasons.join(), /line end in it.*no value/);
  const [file] = readdirSync(out);
  assert.equal(file, "replay-1-u1-1.txt");
  assert.deepEqual(readFileSync(join(out, file!)), Buffer.from([0xff, 10]));
  for (const { id } of bad) assert.equal(made.has(id), false);
  assert.equal(await committer.put(bad, () => {}), 0);
});

test("a file of another replay is not overwritten", async (context) => {
  const { out, sink, journal } = place(context);
  using made = journal();
  const committer = new BatchCommitter(made, sink, owner);
  await committer.open();
  writeFileSync(join(out, "replay-1-u1-1.txt"), "other\n");
  await assert.rejects(committer.put(records, never), { code: "replay-file-taken" });
  assert.deepEqual(linesIn(out), ["other"]);
});

test("a letter's record has an identity of all of its parts", () => {
  const ids = [recordOf("a"), recordOf("a", 1), recordOf("b"), recordOf(null), recordOf({ base64: "YQ==" })].map(
    ({ id }) => id,
  );
  assert.equal(new Set(ids).size, 5);
});

const missing: [string, object, RegExp][] = [
  ["a row of an aggregate", { partition: "", offset: -1, value: { n: 1 }, key: "k", windowStart: 0 }, /aggregate/],
  ["a record of an older version", { partition: "a/0", offset: 1, value: "v" }, /version that kept no record/],
  [
    "a record that was too large",
    { partition: "a/0", offset: 1, value: "v", record: { source: "kafka", truncated: true } },
    /only its beginning/,
  ],
  ["bytes that are none", { partition: "a/0", offset: 1, value: 5, record: { source: "kafka" } }, /damaged/],
];
for (const [what, row, reason] of missing)
  test(`${what} cannot be put back, and says so`, () => {
    const letter = parseLetter(JSON.stringify({ error: "e", operator: "o", ...row }));
    assert.match((letter!.record as { missing: string }).missing, reason);
  });

test("what is no letter is none", () => {
  for (const text of ["", "5", "null", "{}", '{"error":"e","operator":"o","partition":"p"}', "[1]"])
    assert.equal(parseLetter(text), undefined, text);
});
