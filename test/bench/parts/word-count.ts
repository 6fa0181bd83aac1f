/** The word count of test/bench/peers/JOB.md in memory, cut where its parts meet. */
import wordCountKafka from "../../../examples/word-count-kafka.ts";
import type { Compression } from "../../../shared/adapters/kafka/record-batch/codecs.ts";
import { Decoder } from "../../../shared/adapters/kafka/record-batch/decode.ts";
import { BatchEncoder, encodeHeaders, stampBatch } from "../../../shared/adapters/kafka/record-batch/encode.ts";
import { MemoryObjectStore } from "../../../shared/adapters/memory/object-store.ts";
import type { ChainRun } from "../../../shared/epoch/epoch.ts";
import type { StageEnvironment } from "../../../shared/operators/environment.ts";
import { KeyedStage } from "../../../shared/operators/keyed-stage.ts";
import type { Partials } from "../../../shared/operators/partials.ts";
import { SourceStage } from "../../../shared/operators/source-stage.ts";
import { bind } from "../../../shared/pipeline/bind.ts";
import { describe } from "../../../shared/pipeline/describe.ts";
import type { Definition } from "../../../shared/pipeline/graph.ts";
import type { Topology } from "../../../shared/pipeline/topology.ts";
import type { RecordBatch } from "../../../shared/ports/source.ts";
import type { StageState } from "../../../shared/state/stage-state.ts";
import { StateStore } from "../../../shared/state/state-store.ts";
import { countLine, type WordCounts } from "../count-words.ts";
import { generateLines } from "../generate-lines.ts";

/** Records of a batch, as a producer with a little linger makes them; and bytes of whole batches that a fetch gets. */
const batchRecords = 500;
const fetchBytes = 256 * 1024;
/** The watermark behind all windows. */
export const theEnd = Number.MAX_SAFE_INTEGER;

/** Records with a time each, epoch milliseconds. */
export interface Records {
  readonly values: readonly string[];
  readonly times: readonly number[];
}

export interface Input extends Records {
  readonly expected: WordCounts;
}

/** Lines of ten words, a millisecond apart. */
export function linesOf(records: number): Input {
  const [expected, values, times]: [WordCounts, string[], number[]] = [new Map(), [], []];
  for (const line of generateLines(records)) {
    countLine(expected, line);
    const [time, words] = line.split("\t") as [string, string];
    times.push(Number(time));
    values.push(words);
  }
  return { values, times, expected };
}

/** Fetched record batches of one partition, whose offsets are the numbers of the records. */
export function fetchesOf({ values, times }: Records, compression: Compression = "none"): Buffer[] {
  const encoder = new BatchEncoder();
  const record = {
    timestamp: 0,
    key: Buffer.alloc(0),
    keyStart: 0,
    keyBytes: -1,
    value: "",
    headers: encodeHeaders([]),
  };
  const fetches: Buffer[][] = [[]];
  let bytes = 0;
  for (let from = 0; from < values.length; from += batchRecords) {
    const to = Math.min(values.length, from + batchRecords);
    for (let at = from; at < to; at++) {
      record.timestamp = times[at]!;
      record.value = values[at]!;
      encoder.add(record, Number.POSITIVE_INFINITY);
    }
    const batch = encoder.take(compression);
    stampBatch(batch, { producerId: -1n, producerEpoch: -1 }, 0);
    batch.writeBigInt64BE(BigInt(from), 0);
    if (bytes + batch.length > fetchBytes) {
      fetches.push([]);
      bytes = 0;
    }
    fetches.at(-1)!.push(batch);
    bytes += batch.length;
  }
  return fetches.map((batches) => Buffer.concat(batches));
}

export const compressionText = (compression: Compression): string =>
  compression === "none" ? "not compressed" : compression;

/** Columns that stay, as the source hands them to the operators one by one. */
export function batchesOf(input: Records): RecordBatch[] {
  let from = 0;
  return fetchesOf(input).flatMap((records) => {
    const decoder = new Decoder("lines/0", { maxBatchBytes: Number.MAX_SAFE_INTEGER });
    const batches = [...decoder.decode({ records, aborted: [] }, from, Number.MAX_SAFE_INTEGER)];
    from = batches.at(-1)!.next;
    return batches;
  });
}

/** A pipeline from the topic `lines` to the topic `counts`; by default the one with functions on strings. */
export function topologyOf(definition: Definition = wordCountKafka): Topology {
  return bind(describe(definition), { brokers: "127.0.0.1:9092", input: "lines", output: "counts" });
}

export function environmentOf(topology: Topology, write: StageEnvironment["write"] = () => {}): StageEnvironment {
  return { topology, watermark: null, processingTime: 0, write };
}

/** The state of all key groups, from the chains of a checkpoint. */
export function loadState(store: StateStore, topology: Topology, chains: readonly ChainRun[]): Promise<StageState> {
  return store.load("bench", topology, 1, { from: 0, to: topology.keyGroups }, chains);
}

export function emptyState(topology: Topology): Promise<StageState> {
  return loadState(new StateStore(new MemoryObjectStore()), topology, []);
}

/** What a source's stage makes of its batches. */
export function fold(stage: SourceStage, batches: readonly RecordBatch[]): Partials {
  stage.begin("lines/0");
  for (const batch of batches) stage.process(batch);
  return stage.end();
}

/** Merges what a source's stage has made of batches. */
export function mergeInto(topology: Topology, state: StageState, partials: Partials): void {
  new KeyedStage(environmentOf(topology), 1, state).merge(partials);
}

/** The same, from the batches. */
export function processInto(topology: Topology, state: StageState, batches: readonly RecordBatch[]): void {
  mergeInto(topology, state, fold(new SourceStage(environmentOf(topology)), batches));
}

/** The rows of all windows of a state, which are gone then. */
export function rowsOf<Row>(topology: Topology, state: StageState): Row[] {
  const rows: Row[] = [];
  const environment = environmentOf(topology, (_, written) => {
    for (const row of written) rows.push(row as Row);
  });
  for (const _ of new KeyedStage(environment, 1, state).fire(theEnd));
  return rows;
}
