import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Clients, createBucket } from "../emulator/services.ts";
import { readFiles } from "./files.ts";
import { LinesOfWords, type TimedLine } from "./lines.ts";
import type { Workload } from "./workload.ts";

/** Words in objects of a bucket, counts in files of the same bucket. */
export async function bucketWorkload(clients: Clients, random: SeededRandom): Promise<Workload> {
  const bucket = await createBucket(clients);
  const files = `s3://${bucket}/output`;
  const lines = new LinesOfWords(random);
  let objects = 0;
  let rows = 0;
  /** One after the other, and each later than those before: so no line is late, however epochs are cut. */
  const put = async (more: readonly TimedLine[]) => {
    const Key = `input/${String(objects++).padStart(6, "0")}`;
    const Body = more.map(({ timestamp, value }) => `${timestamp}\t${value}\n`).join("");
    await clients.s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
  };
  return {
    props: {
      entry: "test/aws/app/word-count-of-files.ts",
      parameters: { input: `s3://${bucket}/input/`, output: files },
    },
    files,
    feed: (count, words) => put(lines.more(count, words)),
    close: () => put(lines.close(1)),
    problems: async () => {
      const found = await readFiles(clients, files);
      rows = found.length;
      return lines.problems(found);
    },
    get rows() {
      return rows;
    },
  };
}
