import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import wordCountBytes from "../../../examples/word-count-bytes.ts";
import { createFilesSink } from "../../../shared/adapters/filesystem/sink.ts";
import { createKafkaSink } from "../../../shared/adapters/kafka/sink/sink.ts";
import { MemoryObjectStore } from "../../../shared/adapters/memory/object-store.ts";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import type { PreparedFiles } from "../../../shared/adapters/output/prepared-files.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import type { StageEnvironment } from "../../../shared/operators/environment.ts";
import { KeyedStage } from "../../../shared/operators/keyed-stage.ts";
import type { KafkaCompression, KafkaSinkSettings } from "../../../shared/pipeline/connectors/kafka.ts";
import type { Topology } from "../../../shared/pipeline/topology.ts";
import type { CommitLedger, SinkContext, Transaction, TwoPhaseCommitSink } from "../../../shared/ports/sink.ts";
import { FakeKafka } from "../../support/kafka/fake-kafka.ts";
import { readBatches } from "../../support/kafka/plain-batch.ts";
import { type CountRow, checkFolder, checkRows } from "../count-words.ts";
import type { Part, Prepared } from "./part.ts";
import {
  batchesOf,
  compressionText,
  emptyState,
  environmentOf,
  type Input,
  linesOf,
  processInto,
  theEnd,
  topologyOf,
} from "./word-count.ts";

const owner = { pipeline: "bench", uid: "bench", sink: "counts" };
const strings = topologyOf();
const bytes = topologyOf(wordCountBytes);

const contextOf = (epoch: number): SinkContext => ({
  ...owner,
  ...{ epoch, attempt: 1, stage: 1, task: 0, nonce: `nonce-${epoch}` },
});

/** Windows that close, into a sink, up to its pre-commit. Each run is an epoch. */
function staging(
  sink: TwoPhaseCommitSink,
  topology: Topology,
  input: Input,
  check: (epoch: number, handle: never) => Promise<void>,
): Prepared {
  const batches = batchesOf(input);
  let epoch = 0;
  return {
    units: input.expected.size,
    async ready() {
      const state = await emptyState(topology);
      processInto(topology, state, batches);
      const transaction = await sink.begin(contextOf(++epoch));
      const keyed = new KeyedStage(intoSink(topology, transaction), 1, state);
      return async () => {
        for (const _ of keyed.fire(theEnd)) await transaction.drained();
        return await sink.preCommit(transaction);
      };
    },
    check: (handle) => check(epoch, handle as never),
  };
}

function intoSink(topology: Topology, transaction: Transaction): StageEnvironment {
  const write: StageEnvironment["write"] = (_, rows, timeOf, refused) => transaction.write(rows, refused, timeOf);
  const { writeColumns } = transaction;
  if (writeColumns === undefined) return environmentOf(topology, write);
  return {
    ...environmentOf(topology, write),
    writeColumns: (_, columns, refused) => writeColumns.call(transaction, columns, refused),
  };
}

function kafka(name: string, rows: string, topology: Topology, compression: KafkaCompression = "none"): Part {
  return {
    name,
    about: `windows that close, ${rows} into record batches (${compressionText(compression)}), staged in memory`,
    unit: "row",
    async prepare({ records }) {
      const input = linesOf(records);
      const cluster = new FakeKafka();
      cluster.createTopic("counts", 4);
      const objects = new MemoryObjectStore();
      const settings = topology.sinks.counts!.options as unknown as KafkaSinkSettings;
      const ports = { clock: systemClock, random: new SeededRandom(1) };
      const sink = createKafkaSink({ ...settings, compression }, cluster.client(), objects, ports);
      return staging(sink as never, topology, input, async () => {
        const staged = [...objects.objects.values()].flatMap((object) => readBatches(Buffer.from(object)));
        objects.objects.clear();
        const values = staged.flatMap(({ records }) =>
          records.map(({ value }) => JSON.parse(String(value)) as CountRow),
        );
        await checkRows(values, input.expected);
      });
    },
  };
}

const files: Part = {
  name: "sink-files",
  about: "windows that close, rows by map(), as lines of JSON in a staged file, which is synced",
  unit: "row",
  async prepare({ records }) {
    const input = linesOf(records);
    const path = mkdtempSync(join(tmpdir(), "epochflow-bench-"));
    const sink = createFilesSink({ path });
    await sink.open({ ...owner, decided: 0 });
    const visible = async (epoch: number, unit: PreparedFiles) => {
      const commit = { ...owner, epoch, key: "1-0", unit, ledger: {} as CommitLedger };
      await sink.commit(commit);
      await sink.seal!({ ...owner, epoch, units: [commit] });
      await checkFolder(path, input.expected, epoch - 1);
    };
    const prepared = staging(sink as unknown as TwoPhaseCommitSink, strings, input, visible as never);
    return { ...prepared, close: () => rmSync(path, { recursive: true }) };
  },
};

export const sinks: readonly Part[] = [
  kafka("sink-kafka", "rows by map(),", strings),
  kafka("sink-kafka-columns", "columns by select()", bytes),
  kafka("sink-kafka-zstd", "columns by select()", bytes, "zstd"),
  files,
];
