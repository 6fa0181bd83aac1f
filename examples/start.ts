/**
 * `npm start`: the main example from end to end. It generates an access log the first time, runs `access-log.ts` on it, and shows what came out.
 */
import { existsSync } from "node:fs";
import { main as epochflow } from "../cli/main.ts";
import { readRows } from "../local/index.ts";
import { defaults, generateLines } from "./generate-access-log.ts";
import { writeLines } from "./support/generator-command.ts";
import { formatTable } from "./support/table.ts";

const input = "out/access.log";
const output = "out/access-log";
const lines = 500_000;

interface Row {
  readonly windowStart: number;
  readonly key: string;
  readonly count: number;
  readonly bytes: number;
}

if (!existsSync(input)) {
  console.log(`Generating ${lines.toLocaleString("en")} lines of an access log: ${input}`);
  await writeLines(generateLines({ ...defaults, lines }), input);
}
process.exitCode = await epochflow([
  "run",
  "examples/access-log.ts",
  "--set",
  `input=${input}`,
  "--set",
  `output=${output}`,
]);
if (process.exitCode === 0) {
  console.log(`\n${formatTable(await summarise())}\n
A row for each hour and status is in ${output}/: npx epochflow read ${output}
The pipeline: examples/access-log.ts. Append lines to ${input} and run it again: it goes on where it stopped.`);
}

/** Per status code: the sums, and the hour with the most requests. */
async function summarise(): Promise<Record<string, string>[]> {
  const rows: Row[] = [];
  for await (const line of readRows(output)) rows.push(JSON.parse(line));
  const byStatus = Object.entries(Object.groupBy(rows, (row) => row.key)) as [string, Row[]][];
  return byStatus.map(([status, hours]) => {
    const busiest = hours.reduce((best, row) => (row.count > best.count ? row : best));
    return {
      status,
      requests: sum(hours.map((row) => row.count)),
      bytes: sum(hours.map((row) => row.bytes)),
      hours: sum([hours.length]),
      "busiest hour (UTC)": new Date(busiest.windowStart).toISOString().slice(0, 16).replace("T", " "),
      "its requests": sum([busiest.count]),
    };
  });
}

function sum(numbers: readonly number[]): string {
  return numbers.reduce((total, number) => total + number, 0).toLocaleString("en");
}
