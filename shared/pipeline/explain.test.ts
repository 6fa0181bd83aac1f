import assert from "node:assert/strict";
import { test } from "node:test";
import {
  collect,
  count,
  deadLetter,
  files,
  hours,
  json,
  kafka,
  minutes,
  parameter,
  pipeline,
  sliding,
  sum,
  text,
} from "../index.ts";
import { describe } from "./describe.ts";
import { explain } from "./explain.ts";

test("explain says how long a running aggregation keeps its keys", () => {
  const keyed = pipeline("demo")
    .from(files.source({ path: "in", value: text() }))
    .keyBy((line) => line);
  keyed.aggregate({ visits: count() }).to(files.sink({ path: "ever" }));
  const all = keyed.aggregate({ visits: count() }, { expireAfter: hours(36) }).to(files.sink({ path: "recent" }));
  const lines = explain(describe(all)).split("\n");
  const found = lines.filter((line) => line.startsWith("  aggregate"));
  assert.deepEqual(found, [
    "  aggregate-1  ← key-by-1     running aggregation, for ever: visits = count()",
    "  aggregate-2  ← key-by-1     running aggregation, until no record came for 1 day 12 hours: visits = count()",
  ]);
});

test("explain shows JSON pointers, as data", () => {
  const keyed = pipeline("demo")
    .from(files.source({ path: "in", value: json(), timestamp: "/time" }))
    .map("/event")
    .keyBy(["/user", "/a~1b"]);
  const rows = keyed.aggregate({ total: sum("/amount"), all: collect(), n: count() });
  const sink = kafka.sink({ topic: "t", key: "/user", value: "/text", headers: () => ({}) });
  const lines = explain(describe(rows.select({ user: "/key/0", text: "/n" } as never).to(sink as never))).split("\n");
  assert.match(lines.join("\n"), /of json, time from "\/time", out of order/);
  assert.match(lines.join("\n"), /map-1 +← source-1 +map "\/event"\n/);
  assert.match(lines.join("\n"), /key-by-1 +← map-1 +keyBy \["\/user", "\/a~1b"\]\n/);
  assert.match(lines.join("\n"), /: total = sum\("\/amount"\), all = collect\(""\), n = count\(\)\n/);
  assert.match(lines.join("\n"), /select user = "\/key\/0", text = "\/n"\n/);
  assert.match(lines.join("\n"), /value: \/text, key: "\/user", headers: a function/);
});

test("explain shows stages, operators, windows, sinks and parameters", () => {
  const sink = (path: string) => files.sink({ path });
  const rows = pipeline("demo", { onError: deadLetter(sink("bad")) })
    .from(files.source({ path: parameter("input"), value: text(), outOfOrder: 90_000 }))
    .keyBy((line) => line)
    .window(sliding({ size: hours(1), every: minutes(7), offset: minutes(-3) }), { late: sink("late") })
    .aggregate({ visits: count() })
    .to(files.sink({ path: parameter("output", "out") }), { id: "visits" });
  const lines = explain(describe(rows)).split("\n");
  assert.deepEqual(lines, [
    "Pipeline demo",
    "  guarantee   exactly-once",
    "  on error    dead letter, to dead-letter",
    "  key groups  128",
    "",
    "Stage 0, which pre-aggregates and shuffles for window-1",
    '  source-1                   files source { path: parameter("input"), maxLineBytes: 16777216 } of text, ' +
      "the source's own time, out of order by 1 minute 30 seconds, idle after 1 minute",
    "  key-by-1       ← source-1  keyBy",
    '  window-1-late  ← window-1  late records, to a files sink { path: "late" }',
    '  dead-letter    ← all       records that fail, to a files sink { path: "bad" }',
    "",
    "Stage 1",
    "  window-1     ← key-by-1  sliding windows of 1 hour every 7 minutes offset by 4 minutes, allowed lateness 0 seconds: visits = count()",
    '  visits       ← window-1  files sink { path: parameter("output") }',
    '  dead-letter  ← all       records that fail, to a files sink { path: "bad" }',
    "",
    "Parameters",
    "  input   must be given",
    '  output  default "out"',
    "",
  ]);
});
