import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Clients, createBucket } from "../emulator/services.ts";
import type { KafkaBroker } from "../kafka/broker.ts";
import { readCounts, sendLines } from "../kafka/counts.ts";
import type { Oracle } from "../kafka/oracle.ts";
import { readFiles } from "./files.ts";
import { LinesOfWords, type TimedLine } from "./lines.ts";
import type { Workload } from "./workload.ts";

const partitions = 4;

/** Words in a topic, counts in another and in files of a bucket; Java's read_committed consumer reads the topic. */
export async function topicWorkload(
  clients: Clients,
  random: SeededRandom,
  { broker, oracle }: { readonly broker: KafkaBroker; readonly oracle: Oracle },
): Promise<Workload> {
  const bucket = await createBucket(clients);
  const files = `s3://${bucket}/output`;
  const lines = new LinesOfWords(random);
  await oracle.createTopic("lines", partitions);
  await oracle.createTopic("counts", 3);
  /** In turn, so that all partitions are as far. */
  const send = (more: readonly TimedLine[]) =>
    sendLines(
      oracle,
      more.map((line, index) => ({ topic: "lines", partition: index % partitions, ...line })),
    );
  return {
    props: {
      entry: "test/aws/app/word-count.ts",
      parameters: { brokers: broker.bootstrap, input: "lines", output: "counts", folder: files },
    },
    files,
    feed: (count, words) => send(lines.more(count, words)),
    close: () => send(lines.close(partitions)),
    problems: async () => {
      const { counts, faults } = await readCounts(oracle, "counts");
      return [...faults, ...lines.problems(counts), ...lines.problems(await readFiles(clients, files))];
    },
  };
}
