import { parseArgs } from "node:util";
import { wholeNumber } from "../../support/program.ts";
import { type Engine, latencyEngines, recoveryEngines, throughputEngines } from "./engines.ts";
import type { LatencyOptions } from "./latency.ts";
import type { RecoveryOptions } from "./recovery.ts";

/** The engines of the parts to run; none of a part that is left out. */
export interface Options {
  readonly runs: number;
  readonly records: number;
  readonly latency: LatencyOptions;
  readonly recovery: RecoveryOptions;
  readonly engines: Readonly<Record<Part, readonly Engine[]>>;
}

export type Part = "throughput" | "latency" | "recovery";

const all: Readonly<Record<Part, readonly Engine[]>> = {
  throughput: throughputEngines,
  latency: latencyEngines,
  recovery: recoveryEngines,
};
const parts = Object.keys(all) as Part[];
const namesOf = (engines: readonly Engine[]) => engines.map(({ name }) => name).join(",");

/** Each second some of the state changes, and most does not. */
const recoveryRate = 5000;
const kills = 3;

export const help = `Runs the jobs of test/bench/peers/JOB.md, from Kafka to Kafka, on several engines, one after the other, against one broker.

npm run bench:peers -- [options]

  --throughput    windowed word count of a loaded topic: records a second, time to the first result, CPU, memory
  --latency       records passed on at a limited rate: time until a read_committed reader has them
  --recovery      time from SIGKILL to the next committed result
                  (default: all three)

  --records N     records of --throughput (default 1,000,000)
  --rate N        records a second of --latency (default 20,000)
  --seconds N     seconds measured by --latency, after as many of warm-up (default 15)
  --keys N        keys of state of --recovery (default 1,000,000)
  --engines LIST  by name, separated by commas (default: all)
                  throughput: ${namesOf(throughputEngines)}
                  latency:    ${namesOf(latencyEngines)}
                  recovery:   ${namesOf(recoveryEngines)}
  --runs N        rounds (default 3); in each every engine has one run
  --help          this text

Every result is checked. Tables go to standard error; a JSON line a run, and one of medians an engine, to standard output.
It needs Linux, a JDK (17 or newer) and Maven, which fetches the engines. All of it takes about 45 minutes on two processors.
`;

/** @throws Error that names the option */
export function parseOptions(args?: readonly string[]): Options | "help" {
  const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
  const { values } = parseArgs({
    ...(args && { args: [...args] }),
    options: {
      ...{ help: flag, throughput: flag, latency: flag, recovery: flag, engines: text },
      ...{ runs: text, records: text, rate: text, seconds: text, keys: text },
    },
  });
  if (values.help) return "help";
  const number = (name: "runs" | "records" | "rate" | "seconds" | "keys", preset: string) =>
    wholeNumber(name, values[name] ?? preset);
  return {
    runs: number("runs", "3"),
    records: number("records", "1000000"),
    latency: { rate: number("rate", "20000"), seconds: number("seconds", "15") },
    recovery: { keys: keysOf(number("keys", "1000000")), rate: recoveryRate, kills },
    engines: enginesOf(
      parts.filter((part) => values[part]),
      values.engines?.split(",").map((name) => name.trim()),
    ),
  };
}

function keysOf(keys: number): number {
  if (keys < 10) throw new Error(`--keys takes 10 or more, not ${keys}`);
  return keys;
}

function enginesOf(chosen: readonly Part[], names: readonly string[] | undefined): Record<Part, readonly Engine[]> {
  const known = new Map(parts.map((part) => [part, chosen.length === 0 || chosen.includes(part) ? all[part] : []]));
  const stranger = names?.find((name) => !known.values().some((engines) => engines.some((one) => one.name === name)));
  if (stranger !== undefined)
    throw new Error(`--engines knows ${namesOf([...known.values()].flat())}, not "${stranger}"`);
  const of = (part: Part) => known.get(part)!.filter(({ name }) => !names || names.includes(name));
  return { throughput: of("throughput"), latency: of("latency"), recovery: of("recovery") };
}
