/** `node epochflow.ts BROKERS INPUT OUTPUT FOLDER EPOCH_MS PARALLELISM`: the job of JOB.md, by `examples/word-count-kafka.ts`. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "epochflow/local";

const [brokers, input, output, folder, epochMs, parallelism] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const mark = (name: string) => console.log(`MARK ${name} ${Date.now()}`);

mark("start");
const { outcome, error } = await run(fileURLToPath(new URL("../../../examples/word-count-kafka.ts", import.meta.url)), {
  parameters: { brokers, input, output },
  state: join(folder, "state"),
  epochIntervalMs: Number(epochMs),
  parallelism: Number(parallelism),
});
mark("end");
if (outcome !== "done") throw new Error(`the run ended as ${outcome}: ${error?.message ?? ""}`);
