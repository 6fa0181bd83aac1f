import { parseArgs } from "node:util";
import { wholeNumber } from "../support/program.ts";

export const targets = ["local", "emulator"] as const;
export type Target = (typeof targets)[number];

export interface Options {
  readonly target: Target;
  /** Of the first round; the next has the next one. */
  readonly seed: number;
  /** It ends after so long, */
  readonly minutes: number;
  /** or so many kills, pauses and resets, */
  readonly disturbances: number;
  /** or so many rounds. */
  readonly rounds: number;
  /** A file that lines of JSON are added to. */
  readonly results: string | undefined;
  /** Where what a failure left is kept. */
  readonly keep: string | undefined;
  /** Part of the names of kinds to disturb with. */
  readonly only: string | undefined;
  /** A results file, whose figures are to be told; then nothing runs. */
  readonly figures: string | undefined;
  /** Says what happens, when it happens. */
  readonly verbose: boolean;
}

export const help = `Runs pipelines on real parts, disturbs them in all ways, and compares what comes out.

npm run campaign -- [options]

  --target T         local (default): processes on this machine, Kafka, disks; emulator: deployed pipelines
  --minutes M        ends with the round that is running then (default 10, unless one of the next two is given)
  --disturbances N   ends when there were so many kills, pauses and resets
  --rounds N         ends after so many rounds
  --seed S           of the first round; each has the next one. One round again: --seed S --rounds 1 (default: by chance)
  --results FILE     adds the figures, as a line of JSON for each round and one for all
  --keep FOLDER      where to keep what a failure leaves (default: in the system's folder for temporary files)
  --only TEXT        disturbs only in ways whose names contain the text
  --figures FILE     tells the figures of all rounds in a results file, and runs nothing
  --verbose          says what happens, when it happens
  --help             this text

It ends with code 1 at the first difference, and says the seed, what happened when, and where everything is kept. Ctrl-C ends it after the running round.
`;

/** @throws Error that names the option */
export function parseOptions(args: readonly string[]): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ target: text, minutes: text, disturbances: text, rounds: text, seed: text, results: text, keep: text },
      ...{ only: text, figures: text },
      ...{ help: { type: "boolean" }, verbose: { type: "boolean" } },
    },
  });
  if (values.help) return "help";
  const target = targets.find((known) => known === (values.target ?? "local"));
  if (target === undefined) throw new Error(`--target takes ${targets.join(" or ")}, not "${values.target}"`);
  const whole = (name: "minutes" | "disturbances" | "rounds") =>
    values[name] === undefined ? Number.POSITIVE_INFINITY : wholeNumber(name, values[name]);
  const limits = { minutes: whole("minutes"), disturbances: whole("disturbances"), rounds: whole("rounds") };
  const isLimited = Object.values(limits).some(Number.isFinite);
  return {
    target,
    ...limits,
    ...(!isLimited && { minutes: 10 }),
    seed: values.seed === undefined ? 1 + Math.floor(Math.random() * 1e9) : wholeNumber("seed", values.seed),
    results: values.results,
    keep: values.keep,
    only: values.only,
    figures: values.figures,
    verbose: values.verbose ?? false,
  };
}
