/** `node epochflow.ts PIPELINE BROKERS INPUT OUTPUT FOLDER EPOCH_MS PARALLELISM [follow]`: a job of JOB.md by a pipeline, to the end of its input, or on and on. */
import { join } from "node:path";
import { run } from "epochflow/local";

const [pipeline, brokers, input, output, folder, epochMs, parallelism] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const mark = (name: string) => console.log(`MARK ${name} ${Date.now()}`);

mark("start");
const { outcome, error } = await run(pipeline, {
  parameters: { brokers, input, output },
  state: join(folder, "state"),
  epochIntervalMs: Number(epochMs),
  parallelism: Number(parallelism),
  follow: process.argv.includes("follow"),
});
mark("end");
if (outcome !== "done") throw new Error(`the run ended as ${outcome}: ${error?.message ?? ""}`);
// As the command does: left to itself, one process of Node's in some hundreds that had threads and sockets never exits.
process.stdout.write("", () => process.exit());
