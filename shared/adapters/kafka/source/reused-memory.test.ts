/** Memory of a fetch is used again once its records have been processed: whatever still looked at it would find something else there, as it does here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { FakeTopics } from "../../../../test/support/kafka/fake-topics.ts";
import { readAhead } from "../../../epoch/read-ahead.ts";
import { collect, count } from "../../../operators/aggregates.ts";
import { encodePartials } from "../../../operators/partials.ts";
import { SourceStage } from "../../../operators/source-stage.ts";
import { files } from "../../../pipeline/connectors/files.ts";
import { json } from "../../../pipeline/decoders/json.ts";
import { text } from "../../../pipeline/decoders/text.ts";
import { describe } from "../../../pipeline/describe.ts";
import type { Definition } from "../../../pipeline/graph.ts";
import { deadLetter, pipeline } from "../../../pipeline/pipeline.ts";
import { tumbling } from "../../../pipeline/windows.ts";
import { createKafkaSource } from "./source.ts";

const out = files.sink({ path: "out" });
const late = files.sink({ path: "late" });
const onError = deadLetter(files.sink({ path: "rejected" }));

const pipelines: Record<string, Definition> = {
  "texts as bytes, with late rows": pipeline("test", { onError })
    .from(files.source({ path: "in", value: text() }))
    .words()
    .to(out)
    .keyBy()
    .window(tumbling(10), { late })
    .aggregate({ n: count(), all: collect<string>() })
    .to(out),
  "functions on strings": pipeline("test", { onError })
    .from(files.source({ path: "in", value: text() }))
    .flatMap((line) => line.split(" "))
    .keyBy((word) => word)
    .window(tumbling(10), { late })
    .aggregate({ n: count(), all: collect<string>() })
    .to(out),
  "fields of JSON": pipeline("test", { onError })
    .from(files.source({ path: "in", value: json() }))
    .keyBy("/k")
    .window(tumbling(10), { late })
    .aggregate({ n: count() })
    .to(out),
};

type Lines = readonly (string | Buffer | null)[];

/** All that a stage writes and folds of the ranges of a topic, as it is when the last batch is over. */
async function outcomeOf(definition: Definition, batches: readonly Lines[], fetchBytes: number, overwrites: boolean) {
  const topics = new FakeTopics();
  const [log] = topics.create("t") as [ReturnType<FakeTopics["create"]>[number]];
  for (const lines of batches) log.append(...lines);
  const client = { ...topics.client(), ...(overwrites ? {} : { release: () => {} }) };
  const clock = { now: () => 0, sleep: async () => {} };
  const settings = { topics: ["t"], startFrom: "earliest", isolation: "read_committed" } as const;
  const source = createKafkaSource(settings, client, { bounded: true, stays: true, clock, fetchBytes });
  const written: unknown[] = [];
  const stage = new SourceStage({
    topology: describe(definition),
    watermark: 1_020,
    processingTime: 7,
    write: (sink, rows, timeOf) => written.push([sink, rows, rows.map((_, index) => timeOf(index))]),
  });
  const partials = [];
  const [{ id, identity, end }] = (await source.discover([])) as [Awaited<ReturnType<typeof source.discover>>[number]];
  const cuts = [0, 5, 9, 20].filter((cut) => cut < end);
  const ranges = cuts.map((from, index) => ({ id, identity, from, to: cuts[index + 1] ?? end }));
  // As in two epochs, of which the second finds something fetched already.
  for (const epoch of [ranges.slice(0, 2), ranges.slice(2)]) {
    for await (const { range, batches } of readAhead(source, epoch)) {
      stage.begin(range.id);
      for await (const batch of batches) stage.process(batch);
      partials.push(stage.end());
    }
    source.prefetch?.(epoch.slice(-1));
    await setTimeout(1);
  }
  await source.close();
  const folded = Buffer.concat(encodePartials(partials, 7)).toString("hex");
  return { written, folded, counts: stage.counts, times: stage.maxEventTimes };
}

const word = fc.constantFrom("a", "bb", "a rather long word", "é", '{"k":"x"}', '{"k":1}', '{"k":"é"}');
const line = fc.oneof(
  { weight: 8, arbitrary: fc.array(word, { maxLength: 4 }).map((words) => words.join(" ")) },
  { weight: 1, arbitrary: fc.constantFrom(Buffer.of(0xc3), Buffer.of(0x20, 0xff, 0x20), null) },
);
const log = fc.array(fc.array(line, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });

for (const [name, definition] of Object.entries(pipelines))
  test(`nothing of a fetch is looked at after its batches: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(log, fc.integer({ min: 1, max: 900 }), async (batches, fetchBytes) => {
        const [overwritten, kept] = [
          await outcomeOf(definition, batches, fetchBytes, true),
          await outcomeOf(definition, batches, fetchBytes, false),
        ];
        assert.deepEqual(overwritten, kept);
      }),
      { numRuns: 40 },
    );
  });
