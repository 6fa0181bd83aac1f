import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createFilesSource } from "../../../shared/adapters/filesystem/source.ts";
import type { Compression } from "../../../shared/adapters/kafka/record-batch/codecs.ts";
import { Decoder } from "../../../shared/adapters/kafka/record-batch/decode.ts";
import type { PartitionStatus, RecordBatch } from "../../../shared/ports/source.ts";
import { cachedLines } from "../generate-lines.ts";
import type { Part, Prepared } from "./part.ts";
import { compressionText, fetchesOf, linesOf } from "./word-count.ts";

/** Shows all batches of the input to somebody. */
type Read = (visit: (batch: RecordBatch) => void) => Promise<void> | void;

const files: Part = {
  name: "source-files",
  about: "lines of a file, as they are found in its bytes",
  unit: "record",
  async prepare({ records }) {
    const path = await cachedLines(records);
    const source = createFilesSource({ path, bounded: true });
    const [{ id, identity, start, end }] = (await source.discover([])) as [PartitionStatus];
    const read: Read = async (visit) => {
      for await (const batch of source.read({ id, identity, from: start, to: end })) visit(batch);
    };
    const lines = await Array.fromAsync(createInterface({ input: createReadStream(path) }));
    return { ...reading(read, lines), close: () => source.close() };
  },
};

function kafka(name: string, compression: Compression): Part {
  return {
    name,
    about: `fetched record batches (${compressionText(compression)}) as columns`,
    unit: "record",
    async prepare({ records }) {
      const input = linesOf(records);
      const fetches = fetchesOf(input, compression);
      const read: Read = (visit) => {
        const decoder = new Decoder("lines/0", { maxBatchBytes: Number.MAX_SAFE_INTEGER });
        let from = 0;
        for (const records of fetches)
          for (const batch of decoder.decode({ records, aborted: [] }, from, Number.MAX_SAFE_INTEGER)) {
            visit(batch);
            from = batch.next;
          }
      };
      return reading(read, input.values);
    },
  };
}

/** Reads, and then once more to compare what is read. */
function reading(read: Read, expected: readonly string[]): Prepared<number> {
  return {
    units: expected.length,
    ready: async () => async () => {
      let records = 0;
      await read((batch) => {
        records += batch.count;
      });
      return records;
    },
    async check(records) {
      let row = 0;
      await read(({ bytes, count, valueStart, valueEnd }) => {
        for (let at = 0; at < count; at++) {
          const value = bytes.toString("utf8", valueStart[at], valueEnd[at]);
          if (value !== expected[row++]) throw new Error(`record ${row} is ${value}, not ${expected[row - 1]}`);
        }
      });
      if (records !== expected.length || row !== records) throw new Error(`${records} records, not ${expected.length}`);
    },
  };
}

export const sources: readonly Part[] = [files, kafka("source-kafka", "none"), kafka("source-kafka-zstd", "zstd")];
