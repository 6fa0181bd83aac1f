import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Aggregate,
  count,
  deadLetter,
  files,
  hours,
  minutes,
  type PipelineOptions,
  pipeline,
  seconds,
  sliding,
  sum,
  text,
  tumbling,
} from "../index.ts";
import { describe } from "./describe.ts";
import { compareFingerprints, fingerprint } from "./fingerprint.ts";

interface Variant {
  options?: PipelineOptions;
  path?: string;
  outOfOrder?: number;
  map?: boolean;
  window?: ReturnType<typeof tumbling>;
  lateness?: number;
  late?: boolean;
  windowId?: string;
  aggregates?: Record<string, Aggregate<string, unknown, unknown>>;
  sinkId?: string;
  extraSink?: boolean;
}

const size = sum((line: string) => line.length);

function variant(given: Variant = {}) {
  const { path = "in", outOfOrder = 0, window = tumbling(hours(1)), lateness = 0, sinkId = "out" } = given;
  const lines = pipeline("demo", given.options).from(files.source({ path, value: text(), outOfOrder }));
  const mapped = given.map ? lines.map((line) => line.trim()) : lines;
  const rows = mapped
    .keyBy((line) => line)
    .window(window, {
      allowedLateness: lateness,
      ...(given.windowId && { id: given.windowId }),
      ...(given.late && { late: files.sink({ path: "late" }) }),
    })
    .aggregate(given.aggregates ?? { count: count(), size })
    .to(files.sink({ path }), { id: sinkId });
  if (given.extraSink) rows.to(files.sink({ path: "more" }));
  return fingerprint(describe(rows));
}

/** Through JSON, as the ledger keeps it. */
const changes = (to: Variant, from: Variant = {}) =>
  compareFingerprints(JSON.parse(JSON.stringify(variant(from))), variant(to));

test("what state does not rest on may change", () => {
  const harmless: Variant[] = [
    {},
    { path: "elsewhere" },
    { map: true },
    { outOfOrder: 5 },
    { options: { onError: "skip" } },
    { options: { onError: deadLetter(files.sink({ path: "bad" })) } },
  ];
  for (const change of harmless) {
    assert.deepEqual(changes(change), []);
    assert.equal(JSON.stringify(variant(change)), JSON.stringify(variant()));
  }
});

test("each change of what it rests on is a sentence", () => {
  const row = "window-1: the list of aggregates was count = count(), size = sum(), is";
  const sentences: [Variant, string[]][] = [
    [{ window: tumbling(minutes(30)) }, ["window-1: the size was 1 hour, is 30 minutes"]],
    [{ window: tumbling(hours(1), { offset: minutes(-15) }) }, ["window-1: the offset was 0 seconds, is 45 minutes"]],
    [{ lateness: seconds(5) }, ["window-1: the allowed lateness was 0 seconds, is 5 seconds"]],
    [
      { window: sliding({ size: hours(1), every: minutes(7) }) },
      ["window-1: was an aggregation in tumbling windows, is an aggregation in sliding windows"],
    ],
    [{ aggregates: { count: count() } }, [`${row} count = count()`]],
    [{ aggregates: { size, count: count() } }, [`${row} size = sum(), count = count()`]],
    [{ options: { keyGroups: 64 } }, ["the pipeline: the number of key groups was 128, is 64"]],
    [{ late: true }, ["window-1-late is new (a files sink)"]],
    [{ extraSink: true }, ["sink-2 is new (a files sink)"]],
    [{ sinkId: "other" }, ["out is gone (it was a files sink)", "other is new (a files sink)"]],
    [
      { windowId: "hourly" },
      [
        "window-1 is gone (it was an aggregation in tumbling windows)",
        "hourly is new (an aggregation in tumbling windows)",
      ],
    ],
  ];
  for (const [change, expected] of sentences) {
    assert.deepEqual(changes(change), expected);
    assert.deepEqual(changes(change, change), []);
  }
  const [every7, every9] = [7, 9].map((every) => ({ window: sliding({ size: hours(1), every: minutes(every) }) }));
  assert.deepEqual(changes(every9!, every7), ["window-1: the interval was 7 minutes, is 9 minutes"]);
});

test("an offset of 0, or one that means the same windows, is no change", () => {
  const [early, late] = [minutes(-15), minutes(45)].map((offset) => ({ window: tumbling(hours(1), { offset }) }));
  assert.equal(JSON.stringify(variant({ window: tumbling(hours(1), { offset: 0 }) })), JSON.stringify(variant()));
  assert.equal(JSON.stringify(variant(early)), JSON.stringify(variant(late)));
});

test("what a running aggregation keeps is in it; when keys expire is not", () => {
  const running = (aggregates: Record<string, Aggregate<string, unknown, unknown>>, expireAfter?: number) =>
    fingerprint(
      describe(
        pipeline("demo")
          .from(files.source({ path: "in", value: text() }))
          .keyBy((line) => line)
          .aggregate(aggregates, { id: "window-1", ...(expireAfter && { expireAfter }) })
          .to(files.sink({ path: "out" }), { id: "out" }),
      ),
    );
  const before = running({ count: count() });
  assert.deepEqual(running({ count: count() }, hours(1)), before);
  assert.deepEqual(compareFingerprints(before, running({ n: count() })), [
    "window-1: the list of aggregates was count = count(), is n = count()",
  ]);
  assert.deepEqual(compareFingerprints(variant({ aggregates: { count: count() } }), before), [
    "window-1: was an aggregation in tumbling windows, is a running aggregation",
  ]);
});

test("another kind of source or sink is another one", () => {
  const before = variant();
  const after = { ...before, sources: { "source-1": "kafka" }, sinks: { out: "kafka" } };
  assert.deepEqual(compareFingerprints(before, after), [
    "source-1: was a files source, is a kafka source",
    "out: was a files sink, is a kafka sink",
  ]);
});
