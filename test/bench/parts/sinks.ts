import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilesSink } from "../../../shared/adapters/filesystem/sink.ts";
import { createKafkaSink } from "../../../shared/adapters/kafka/sink/sink.ts";
import { MemoryObjectStore } from "../../../shared/adapters/memory/object-store.ts";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import type { PreparedFiles } from "../../../shared/adapters/output/prepared-files.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import type { KafkaCompression, KafkaSinkSettings } from "../../../shared/pipeline/connectors/kafka.ts";
import type { CommitLedger, SinkContext, TwoPhaseCommitSink } from "../../../shared/ports/sink.ts";
import { FakeKafka } from "../../support/kafka/fake-kafka.ts";
import { readBatches } from "../../support/kafka/plain-batch.ts";
import { type CountRow, checkFolder, checkRows } from "../count-words.ts";
import type { Part, Prepared } from "./part.ts";
import {
  batchesOf,
  compressionText,
  emptyState,
  fireAll,
  type Input,
  linesOf,
  processInto,
  topologyOf,
} from "./word-count.ts";

const owner = { pipeline: "bench", uid: "bench", sink: "counts" };
const topology = topologyOf();

/** What a keyed stage gives to its sink at a time. */
interface Written {
  readonly rows: unknown[];
  readonly times: readonly number[];
}

async function writtenFor(input: Input): Promise<Written[]> {
  const written: Written[] = [];
  const state = await emptyState(topology);
  processInto(topology, state, batchesOf(input));
  fireAll(topology, state, (_, rows, timeOf) => {
    written.push({ rows, times: rows.map((_, row) => timeOf(row)) });
  });
  return written;
}

const contextOf = (epoch: number): SinkContext => ({
  ...owner,
  ...{ epoch, attempt: 1, stage: 1, task: 0, nonce: `nonce-${epoch}` },
});

/** Rows to a sink, up to their pre-commit: all that is done to each of them. Each run is an epoch. */
function staging(
  sink: TwoPhaseCommitSink,
  input: Input,
  written: readonly Written[],
  check: (epoch: number, handle: never) => Promise<void>,
): Prepared {
  let epoch = 0;
  return {
    units: input.expected.size,
    async ready() {
      const transaction = await sink.begin(contextOf(++epoch));
      return async () => {
        for (const { rows, times } of written) {
          transaction.write(rows, undefined, (row) => times[row]!);
          await transaction.drained();
        }
        return await sink.preCommit(transaction);
      };
    },
    check: (handle) => check(epoch, handle as never),
  };
}

const settings = topology.sinks.counts!.options as unknown as KafkaSinkSettings;

function kafka(name: string, compression: KafkaCompression): Part {
  return {
    name,
    about: `rows as record batches of their partitions (${compressionText(compression)}), staged in memory`,
    unit: "row",
    async prepare({ records }) {
      const input = linesOf(records);
      const cluster = new FakeKafka();
      cluster.createTopic("counts", 4);
      const objects = new MemoryObjectStore();
      const ports = { clock: systemClock, random: new SeededRandom(1) };
      const sink = createKafkaSink({ ...settings, compression }, cluster.client(), objects, ports);
      return staging(sink as never, input, await writtenFor(input), async () => {
        const staged = [...objects.objects.values()].flatMap((bytes) => readBatches(Buffer.from(bytes)));
        objects.objects.clear();
        const rows = staged.flatMap(({ records }) => records.map(({ value }) => JSON.parse(String(value)) as CountRow));
        await checkRows(rows, input.expected);
      });
    },
  };
}

const files: Part = {
  name: "sink-files",
  about: "rows as lines of JSON in a staged file, which is synced",
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
    const prepared = staging(sink as unknown as TwoPhaseCommitSink, input, await writtenFor(input), visible as never);
    return { ...prepared, close: () => rmSync(path, { recursive: true }) };
  },
};

export const sinks: readonly Part[] = [kafka("sink-kafka", "none"), kafka("sink-kafka-zstd", "zstd"), files];
