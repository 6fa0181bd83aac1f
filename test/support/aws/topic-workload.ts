import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Clients, createBucket } from "../emulator/services.ts";
import { readCounts, sendLines } from "../kafka/counts.ts";
import type { Oracle } from "../kafka/oracle.ts";
import { readFiles } from "./files.ts";
import { LinesOfWords, type TimedLine } from "./lines.ts";
import type { Workload } from "./workload.ts";

const partitions = 4;

export interface TopicWorkloadOptions {
  readonly oracle: Oracle;
  /** As functions reach it. */
  readonly brokers: string;
  /** What topics' names begin with; default: nothing. */
  readonly prefix?: string;
}

/** Words in a topic, counts in another and in files of a bucket; Java's read_committed consumer reads the topic. */
export async function topicWorkload(
  clients: Clients,
  random: SeededRandom,
  { oracle, brokers, prefix = "" }: TopicWorkloadOptions,
): Promise<Workload> {
  const bucket = await createBucket(clients);
  const files = `s3://${bucket}/output`;
  const [input, output] = [`${prefix}lines`, `${prefix}counts`];
  const lines = new LinesOfWords(random);
  let rows = 0;
  await oracle.createTopic(input, partitions);
  await oracle.createTopic(output, 3);
  /** In turn, so that all partitions are as far. */
  const send = (more: readonly TimedLine[]) =>
    sendLines(
      oracle,
      more.map((line, index) => ({ topic: input, partition: index % partitions, ...line })),
    );
  return {
    props: { entry: "test/aws/app/word-count.ts", parameters: { brokers, input, output, folder: files } },
    files,
    feed: (count, words) => send(lines.more(count, words)),
    close: () => send(lines.close(partitions)),
    problems: async () => {
      const { counts, faults } = await readCounts(oracle, output);
      const inFiles = await readFiles(clients, files);
      rows = counts.length + inFiles.length;
      return [...faults, ...lines.problems(counts), ...lines.problems(inFiles)];
    },
    get rows() {
      return rows;
    },
  };
}
