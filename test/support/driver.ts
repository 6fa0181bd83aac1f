/**
 * A process that runs a pipeline's module with from 1 to 4 tasks, by chance, in each stage of each attempt:
 *
 *     node driver.ts '{ "module": …, "options": …, "seed": … }'
 */
import type { RunOptions } from "../../local/options.ts";
import { runWith } from "../../local/run.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";

export interface Drive {
  readonly module: string;
  readonly options: RunOptions;
  readonly seed: number;
}

const { module, options, seed }: Drive = JSON.parse(process.argv[2]!);
const random = new SeededRandom(seed);
const result = await runWith(module, options, {
  chooseTasks: (_, stages) => Array.from({ length: stages }, () => 1 + random.below(4)),
});
process.exitCode = result.outcome === "done" || result.outcome === "nothing-new" ? 0 : 1;
// As the command does: left to itself, one process of Node's in some hundreds that had threads and sockets never exits.
process.stdout.write(JSON.stringify(result), () => process.exit());
