/**
 * A process that runs a round's pipeline with from 1 to 4 tasks, by chance, in each stage of each attempt, and may die at a call of a port:
 *
 *     node process.ts '{ "module": …, "options": …, "seed": … }'
 */
import { writeSync } from "node:fs";
import { exitCodeOfResult } from "../../../cli/exit-codes.ts";
import type { RunOptions } from "../../../local/options.ts";
import { runWith } from "../../../local/run.ts";
import type { Internals } from "../../../local/session.ts";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Around, around, synchronous } from "../../support/ports.ts";
import { type Planted, planted } from "./planted.ts";

export interface Life {
  readonly module: string;
  readonly options: RunOptions;
  readonly seed: number;
  /** It dies of its so-manieth call of any port, before the call's effect or after it. */
  readonly death?: { readonly call: number; readonly when: "before" | "after" };
  /** A fault that a campaign has to notice. */
  readonly planted?: Planted;
}

const life: Life = JSON.parse(process.argv[2]!);
const random = new SeededRandom(life.seed);

let calls = 0;
const dying: Around = (method, call) => {
  calls += 1;
  const { death } = life;
  if (calls !== death?.call) return call();
  if (death.when === "before") return die(method);
  const result = call();
  return synchronous.has(method) ? die(method) : ((result as Promise<unknown>).then(() => die(method)) as never);
};

function die(method: string): never {
  writeSync(2, `dies ${life.death?.when} ${method}\n`);
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

const internals: Internals = {
  chooseTasks: (_, stages) => Array.from({ length: stages }, () => 1 + random.below(4)),
  ...(life.death && { engine: (engine) => around(engine, dying) }),
  ...(life.planted && { engine: (engine) => planted(engine, life.planted!) }),
};

const interrupt = new AbortController();
process.once("SIGTERM", () => interrupt.abort());
const result = await runWith(life.module, { ...life.options, signal: interrupt.signal, onMessage: say }, internals);
process.exitCode = exitCodeOfResult(result);
// As the command does: left to itself, one process of Node's in some hundreds that had threads and sockets never exits.
process.stderr.write(`${JSON.stringify(result)}\n`, () => process.exit());

function say(message: object): void {
  process.stderr.write(`${JSON.stringify(message)}\n`);
}
