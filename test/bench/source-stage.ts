/**
 * What the first stage of a word count costs: decoding, operators, keys and counting, from batches in memory to what goes into the shuffle. No source, no state, no output.
 *
 *     node --conditions=epochflow-source test/bench/source-stage.ts [strings|bytes] [lines]
 */

import bytes from "../../examples/word-count-bytes.ts";
import strings from "../../examples/word-count-kafka.ts";
import { SourceStage } from "../../shared/operators/source-stage.ts";
import { describe } from "../../shared/pipeline/describe.ts";
import { recordBatch, type SourceRecord } from "../../shared/ports/record-batch.ts";
import type { RecordBatch } from "../../shared/ports/source.ts";
import { generateLines, START } from "./generate-lines.ts";

const PARTITIONS = 4;
const BATCH_RECORDS = 1000;
/** Lines of an epoch, over all partitions: about a second's. */
const EPOCH_LINES = 200_000;

const pipelines = { strings, bytes };

/** The partitions of one epoch, each as batches: line i lies in partition i mod 4, at i milliseconds. */
function makeEpoch(lines: readonly string[], first: number): RecordBatch[][] {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const records: SourceRecord[] = [];
    for (let at = partition; at < lines.length; at += PARTITIONS)
      records.push({ offset: first + at, value: lines[at]!, timestamp: START + first + at });
    const starts = Array.from({ length: Math.ceil(records.length / BATCH_RECORDS) }, (_, at) => at * BATCH_RECORDS);
    return starts.map((start) => {
      const { headers, ...columns } = recordBatch(records.slice(start, start + BATCH_RECORDS), first + lines.length);
      return columns; // headers would keep all records as objects
    });
  });
}

function* makeEpochs(count: number): Generator<RecordBatch[][]> {
  let lines: string[] = [];
  let first = 0;
  for (const line of generateLines(count)) {
    lines.push(line.slice(line.indexOf("\t") + 1));
    if (lines.length < EPOCH_LINES) continue;
    yield makeEpoch(lines, first);
    first += lines.length;
    lines = [];
  }
  if (lines.length > 0) yield makeEpoch(lines, first);
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function measure(name: keyof typeof pipelines, count: number): void {
  const topology = describe(pipelines[name]);
  let keys = 0;
  const spent = { process: 0, end: 0 };
  // All of it first: its garbage shall not count.
  for (const epoch of [...makeEpochs(count)]) {
    const stage = new SourceStage({ topology, watermark: null, processingTime: 0, write: () => {} });
    for (const [partition, batches] of epoch.entries()) {
      let before = cpuMicros();
      stage.begin(`lines/${partition}`);
      for (const batch of batches) stage.process(batch);
      spent.process += cpuMicros() - before;
      before = cpuMicros();
      for (const { entries } of stage.end()) keys += entries.keys.count;
      spent.end += cpuMicros() - before;
    }
  }
  const perLine = (micros: number) => Number((micros / count).toFixed(3));
  const result = { pipeline: name, lines: count, keys, process: perLine(spent.process), end: perLine(spent.end) };
  process.stdout.write(`${JSON.stringify({ ...result, total: perLine(spent.process + spent.end) })}\n`);
}

const [name = "strings", lines = "1000000"] = process.argv.slice(2);
if (name !== "strings" && name !== "bytes") throw new Error(`There is no pipeline ${name}`);
measure(name, Number(lines));
