/**
 * Texts that stay bytes give the same as texts that are strings: partials, rows, dead letters, counts, times, what is said to run, and the error under `fail`. A decoder
 * that does the same as `text()`, but is another, makes the same pipeline run on strings.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserCodeError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { kafka } from "../pipeline/connectors/kafka.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import type { Definition } from "../pipeline/graph.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import type { Stream } from "../pipeline/stream.ts";
import type { Decoder } from "../pipeline/topology.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { aggregate, collect, count, max } from "./aggregates.ts";
import type { WriteRows } from "./environment.ts";
import { encodePartials } from "./partials.ts";
import { SourceStage } from "./source-stage.ts";
import { batchOf, type TestRecord } from "./test-support.ts";

const sink = files.sink({ path: "out" });
const late = files.sink({ path: "late" });
/** Its rows are written as they are. */
const texts = kafka.sink({ topic: "texts", value: text() });

/** Changes its accumulator before it throws. */
const careless = aggregate<string, string[], string[]>({
  init: () => [],
  add(seen, value) {
    seen.push(value);
    if (value.startsWith("!")) throw new Error("not this one");
    return seen;
  },
  merge: (seen, other) => [...seen, ...other],
  result: (seen) => seen,
});
const several = { n: count(), all: collect<string>(), careless, longest: max((value: string) => value.length) };

type Build = (lines: Stream<string>) => Definition;

const pipelines: Record<string, Build> = {
  "words counted": (lines) => lines.words().keyBy().window(tumbling(10)).aggregate({ n: count() }).to(sink),
  "parts in windows that overlap, with late rows": (lines) =>
    lines
      .split(", ")
      .keyBy()
      .window(sliding({ size: 10, every: 4 }), { late })
      .aggregate(several)
      .to(sink),
  "parts at a character of several bytes": (lines) =>
    lines.split("→").words().keyBy().window(tumbling(7)).aggregate(several).to(sink),
  "lines as keys, that run and expire": (lines) => lines.keyBy().aggregate(several, { expireAfter: 8 }).to(sink),
  "keys that a function gives": (lines) =>
    lines
      .words()
      .keyBy((word) => (word.startsWith("?") ? Number.NaN : word.length))
      .aggregate(several)
      .to(sink),
  "rows with metadata": (lines) =>
    lines
      .words()
      .map((word, { offset, key }) => ({ word, offset, key }))
      .to(sink),
  "lines as they are": (lines) => lines.to(texts),
  "lines and words as they are, and in capitals": (lines) => {
    const words = lines.to(texts, { id: "lines" }).words();
    words.map((word) => word.toUpperCase()).to(texts, { id: "capitals" });
    return words.to(texts, { id: "words" });
  },
  "branches of lines and of words": (lines) => {
    const words = lines.to(sink, { id: "lines" }).words();
    words.filter((word) => word.length > 1).to(sink, { id: "long" });
    words.to(sink, { id: "words" }).split("a").keyBy().aggregate(several).to(sink);
    return words.keyBy().window(tumbling(10), { late, allowedLateness: 3 }).aggregate({ n: count() }).to(sink);
  },
};

const policies: Record<string, NonNullable<PipelineOptions["onError"]>> = {
  fail: "fail",
  skip: "skip",
  deadLetter: deadLetter(files.sink({ path: "rejected" })),
};

/** All that a stage does with batches of some sub-ranges. */
function outcomeOf(build: Build, policy: string, decoder: Decoder<string>, subRanges: readonly TestRecord[][][]) {
  const did: unknown[] = [];
  const source = files.source({ path: "in", value: decoder });
  const topology = describe(build(pipeline("test", { onError: policies[policy]! }).from(source)));
  const write: WriteRows = (id, rows, timeOf, refused) => {
    did.push([id, rows.slice(), rows.map((_, index) => timeOf(index))]);
    // A sink that cannot take what has an "e" in it.
    for (const [index, row] of rows.entries())
      if (refused && id !== "dead-letter" && JSON.stringify(row).includes("e"))
        refused(index, new UserCodeError("row-refused", "no e"));
  };
  const stage = new SourceStage({
    topology,
    watermark: 12,
    processingTime: 77,
    write,
    writeTexts: (id, { length, bytes, starts, ends, times }, refused) => {
      const rows = Array.from({ length }, (_, row) => bytes.toString("utf8", starts[row], ends[row]));
      write(id, rows, (row) => times[row]!, refused);
    },
    running: (...what) => did.push(what),
  });
  const partials = [];
  let error: unknown;
  try {
    for (const [at, batches] of subRanges.entries()) {
      stage.begin(`p${at}`);
      for (const records of batches) stage.process(batchOf(records, at * 1000));
      partials.push(stage.end());
    }
  } catch (thrown) {
    error = thrown instanceof Error && { ...thrown, message: thrown.message, cause: String(thrown.cause) };
  }
  const shuffled = Buffer.concat(encodePartials(partials, 7)).toString("hex");
  return { did, error, shuffled, counts: stage.counts, times: stage.maxEventTimes };
}

const piece = fc.constantFrom(..."ab e\t\n\v\f\r\b\u000e\u001f\0!?é→😀\ufffd\u00a0\u2028", "cd", "  ", ", ");
const line = fc.oneof(
  { weight: 12, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const record = fc.record({
  value: line,
  timestamp: fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 0, max: 40 }) }, fc.constant(Number.NaN)),
});
const input = fc.array(fc.array(fc.array(record, { maxLength: 12 }), { maxLength: 3 }), { maxLength: 2 });

for (const [name, build] of Object.entries(pipelines))
  for (const policy of Object.keys(policies))
    test(`bytes give what strings give: ${name}, ${policy}`, () => {
      fc.assert(
        fc.property(input, (subRanges) => {
          const bytes = outcomeOf(build, policy, text(), subRanges);
          const strings = outcomeOf(build, policy, { ...text() }, subRanges);
          assert.deepEqual(bytes, strings);
        }),
      );
    });

test("more than one slice of a batch, and columns that grow", () => {
  const records = Array.from({ length: 700 }, (_, at) => ({
    value: at % 500 === 3 ? Buffer.of(0xff, 0x20) : `${"w ".repeat(at % 9)}${at}`,
    timestamp: at % 60,
  }));
  for (const build of Object.values(pipelines))
    assert.deepEqual(
      outcomeOf(build, "skip", text(), [[records]]),
      outcomeOf(build, "skip", { ...text() }, [[records]]),
    );
});

test("a line of text() is not decoded where operators take its bytes", () => {
  const words = pipelines["words counted"]!;
  const topology = describe(words(pipeline("test").from(files.source({ path: "in", value: text() }))));
  const bytes = Buffer.from("one two");
  bytes.toString = () => assert.fail("decoded");
  const stage = new SourceStage({ topology, watermark: null, processingTime: 0, write: () => {} });
  stage.process({ ...batchOf([{ value: "one two" }]), bytes });
  assert.deepEqual(
    stage.end().map(({ entries }) => entries.keys.count),
    [2],
  );
});

test("a line that is written as it is, is not decoded", () => {
  const topology = describe(
    pipeline("test")
      .from(files.source({ path: "in", value: text() }))
      .to(texts, { id: "t" }),
  );
  const written: string[] = [];
  const stage = new SourceStage({
    topology,
    watermark: null,
    processingTime: 0,
    write: () => assert.fail("as strings"),
    writeTexts: (id, { length, starts, ends }) => written.push(`${id} ${length} ${ends[0]! - starts[0]!}`),
  });
  stage.process(batchOf([{ value: "one two" }]));
  assert.deepEqual([written, stage.counts.rows], [["t 1 7"], { t: 1 }]);
});
