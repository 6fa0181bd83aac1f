import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { RunResult } from "../local/options.ts";
import { LossError, UsageError, UserCodeError } from "../shared/errors.ts";
import { exitCodeOfResult } from "./exit-codes.ts";
import { formatSummary } from "./summary.ts";

const done: RunResult = {
  outcome: "done",
  progress: {
    decided: 40,
    committed: 40,
    epochs: 40,
    records: 987_640,
    bytes: 236_000_000,
    offsets: "bytes" as const,
    rows: 120,
    position: 236_000_000,
    end: 236_000_000,
    watermark: 1_431_860_400_000,
    elapsedMs: 12_000,
  },
  late: 3,
  skipped: 0,
  deadLettered: 2,
  closedUntil: 1_431_860_400_000,
  state: join(process.cwd(), ".epochflow/access-log"),
  outputs: { counts: join(process.cwd(), "out") },
  topics: { events: "orders", rest: "" },
};
const idle = { ...done.progress, epochs: 0 };
const loss = new LossError("file-shrank", "access.log shrank").describe();

const summaryOf = (result: RunResult): string => stripVTControlCharacters(formatSummary(result));

test("what was done, where it is, and what to know", () => {
  assert.equal(
    summaryOf(done),
    `Done. All of the input is processed and committed.
  read         987,640 records, 236 MB
  of them      3 late, 2 dead-lettered
  written      120 rows
  took         12.0 s, 40 epochs
  sink counts  out  (epochflow read out)
  sink events  topic orders
  sink rest    topics by row
  state        .epochflow/access-log
The end of the input closed the windows up to 2015-05-17 11:00:00Z:
later records of them will be late. --hold leaves windows open.
Late records came after their windows were closed, and are in none of the rows:
\`allowedLateness\` of a window gives them time, \`late\` a sink.`,
  );
  assert.doesNotMatch(summaryOf({ ...done, topics: { "window-1-late": "late" } }), /allowedLateness/);
});

test("nothing to do is said, without counts and without windows that were closed before", () => {
  const text = summaryOf({ ...done, outcome: "nothing-new", progress: idle });
  assert.match(text, /^Nothing to do/);
  assert.doesNotMatch(text, /records/);
});

test("windows that stay open are not spoken of, nor are records that were all right", () => {
  const text = summaryOf({ ...done, closedUntil: null, late: 0, deadLettered: 0 });
  assert.doesNotMatch(text, /closed|of them|late/);
});

test("an error stands at the end", () => {
  const text = summaryOf({ ...done, outcome: "stopped", error: loss });
  assert.match(text, /^Stopped\. .*\nerror: access\.log shrank$/s);
});

const codes: [RunResult, number][] = [
  [done, 0],
  [{ ...done, outcome: "nothing-new" }, 0],
  [{ ...done, outcome: "interrupted" }, 130],
  [{ ...done, outcome: "paused" }, 0],
  [{ ...done, outcome: "paused", progress: idle }, 1],
  [{ ...done, outcome: "stopped", error: loss }, 4],
  [{ ...done, outcome: "stopped", error: new UserCodeError("x", "threw").describe() }, 1],
  [{ ...done, outcome: "failed" }, 1],
  [{ ...done, outcome: "failed", error: new UsageError("no-input", "no such file").describe() }, 2],
  [{ ...done, outcome: "in-use" }, 3],
];
for (const [result, code] of codes) {
  test(`${result.outcome}, ${result.error?.kind ?? "no error"}, ${result.progress.epochs} epochs: exit code ${code}`, () => {
    assert.equal(exitCodeOfResult(result), code);
    assert.notEqual(summaryOf(result), "");
  });
}
