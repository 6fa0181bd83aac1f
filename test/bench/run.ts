/** `npm run bench`: how fast a windowed word count is on this machine, where its time goes, and what each part costs alone (`--help` says more). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { emit, optionsOrExit, say, wholeNumber } from "../support/program.ts";
import { flameGraph } from "./flame.ts";
import { WORDS_A_LINE } from "./generate-lines.ts";
import { inProcess } from "./in-process.ts";
import { type Job, jobs, type Loaded } from "./jobs.ts";
import type { MeasuredRun, Measurement } from "./measure.ts";
import { parts } from "./parts/all.ts";
import type { Part, PartFigures, Sizes } from "./parts/part.ts";
import { phaseShares } from "./phases.ts";
import { readProfiles } from "./profile.ts";
import { figuresOf, grouped, type JobFigures, jobTable, partTable, phasesOf, phaseTable } from "./report.ts";

const all = [...jobs, ...parts];

const help = `Measures a windowed word count as a whole, in epochs of a second, and its parts, each alone.

npm run bench -- [options]

  --part NAME   one of those below, or the beginning of several (operators); may come more than once (default: all)
  --lines N     lines of ${WORDS_A_LINE} words for whole pipelines, generated (default 1,000,000)
  --records N   the same for parts (default 200,000)
  --keys N      keys of the state that parts take a snapshot of (default 200,000)
  --workers N   worker threads of whole pipelines (default 2)
  --runs N      runs that count (default 3); of whole pipelines each is a process of its own
  --flame FILE  writes a flame graph of one pipeline's CPU time, an SVG: with --part files, for instance
  --help        this text

Whole pipelines:
${list(jobs)}
Parts:
${list(parts)}
Every result is compared with an independent count. Of a whole pipeline two more runs follow: one under V8's sampling profiler, whose samples share out the
CPU time among the phases, and one of many epochs of a single line, for what the protocol costs an epoch. What begins with kafka needs Java and Maven, from
which a broker is started. Tables go to standard error, JSON lines to standard output.
`;

/** Epochs of the run that measures the protocol: the ledger keeps the details of as many. */
const smallEpochs = 1000;

interface Options {
  readonly jobs: readonly Job[];
  readonly parts: readonly Part[];
  /** They were asked for, by name. */
  readonly isAsked: boolean;
  readonly lines: number;
  readonly sizes: Sizes;
  readonly workers: number;
  readonly runs: number;
  readonly flame: string | undefined;
}

async function bench(options: Options): Promise<void> {
  const { workers, runs } = options;
  const whole: JobFigures[] = [];
  for (const job of options.jobs) whole.push(await measureJob(job, options));
  const alone: PartFigures[] = [];
  for (const part of options.parts) alone.push(await measurePart(part, options));
  say(`\n${runs} runs, ${availableParallelism()} processors, Node ${process.versions.node}\n`);
  if (whole.length > 0) {
    say(`Windowed word count: ${grouped(options.lines)} lines, ${workers} workers\n\n${jobTable(whole)}\n`);
    say(`${phaseTable(whole)}\n`);
    for (const { job, protocolMsAnEpoch } of whole)
      say(`${job}: the protocol costs ${protocolMsAnEpoch.toFixed(1)} ms an epoch of one line (plan, decide, commit)`);
    say("");
  }
  if (alone.length > 0) say(`${partTable(alone)}\n`);
  say("All results equal an independent count.");
}

async function measureJob(job: Job, { lines, workers, runs, flame }: Options): Promise<JobFigures> {
  const { name, about } = job;
  const folder = mkdtempSync(join(tmpdir(), "epochflow-bench-"));
  try {
    await using open = await job.open();
    const input = await open.load(lines);
    const measurements: Measurement[] = [];
    for (let run = 1; run <= runs; run++) {
      measurements.push(await measureRun(job, input, `run-${run}`, { folder, workers }));
      emit({ kind: "run", job: name, lines, workers, ...figuresOf(measurements.at(-1)!) });
    }
    const profiles = join(folder, "profiles");
    await measureRun(job, input, "profiled", { folder, workers, profiles });
    const phases = phaseShares(readProfiles(profiles));
    if (flame !== undefined) writeFileSync(flame, flameGraph(readProfiles(profiles), `${name}: ${about}`));
    const small = await open.load(smallEpochs);
    const { protocolMsAnEpoch } = await measureRun(job, small, "small-epochs", { folder, workers, epochRecords: 1 });
    const figures: JobFigures = { job: name, about, runs: measurements, phases, protocolMsAnEpoch };
    emit({ kind: "phases", job: name, unit: "µs a line", ...Object.fromEntries(phasesOf(figures)) });
    emit({ kind: "protocol", job: name, epochs: smallEpochs, msAnEpoch: protocolMsAnEpoch });
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RunOptions extends Pick<MeasuredRun, "folder" | "workers" | "epochRecords"> {
  /** A folder for what V8's profiler sees. */
  readonly profiles?: string;
}

async function measureRun(job: Job, input: Loaded, run: string, options: RunOptions): Promise<Measurement> {
  const { profiles, ...plain } = options;
  say(`${job.name}: ${run}`);
  const folder = join(options.folder, run);
  mkdirSync(folder);
  const parameters = await input.parameters(`${job.name}-${run}`, folder);
  const measured: MeasuredRun = { ...plain, folder, module: job.module, parameters };
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const measurement = await inProcess<Measurement>("measure.ts", [JSON.stringify(measured)], profiling);
  await input.check(`${job.name}-${run}`, folder);
  return measurement;
}

async function measurePart({ name }: Part, { sizes, runs }: Options): Promise<PartFigures> {
  say(name);
  const figures = await inProcess<PartFigures>("parts/run.ts", [name, JSON.stringify(sizes), String(runs)]);
  emit({ kind: "part", ...figures });
  return figures;
}

function list(those: readonly { name: string; about: string }[]): string {
  return those.map(({ name, about }) => `  ${name.padEnd(20)}${about}\n`).join("");
}

/** Names of what has this name, or, where nothing has, of what begins with it. @throws Error if there is none */
function namesFor(asked: string): string[] {
  const names = all.map(({ name }) => name);
  const found = names.includes(asked) ? [asked] : names.filter((name) => name.startsWith(`${asked}-`));
  if (found.length === 0) throw new Error(`--part knows ${names.join(", ")}, not "${asked}"`);
  return found;
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      ...{ help: { type: "boolean" }, part: { type: "string", multiple: true } },
      ...{ lines: text, records: text, keys: text, workers: text, runs: text, flame: text },
    },
  });
  if (values.help) return "help";
  const { part, lines = "1000000", records = "200000", keys = "200000", workers = "2", runs = "3", flame } = values;
  const names = part?.flatMap(namesFor);
  const isWanted = ({ name }: { name: string }) => names?.includes(name) !== false;
  const options = {
    jobs: jobs.filter(isWanted),
    parts: parts.filter(isWanted),
    isAsked: part !== undefined,
    lines: wholeNumber("lines", lines),
    sizes: { records: wholeNumber("records", records), keys: wholeNumber("keys", keys) },
    workers: wholeNumber("workers", workers),
    runs: wholeNumber("runs", runs),
    flame,
  };
  if (flame !== undefined && options.jobs.length !== 1)
    throw new Error(`--flame is of one pipeline: --part ${jobs.map(({ name }) => name).join(", or --part ")}`);
  return options;
}

/** Those that this machine can run; the others are told, and are missing if they were asked for. */
async function possible({ jobs, isAsked }: Options): Promise<Job[]> {
  const found: Job[] = [];
  for (const job of jobs) {
    const reason = await job.lacks?.();
    if (reason === undefined) found.push(job);
    else {
      say(`${job.name} is left out: ${reason}`);
      if (isAsked) process.exitCode = 1;
    }
  }
  return found;
}

const options = optionsOrExit("bench", help, parseOptions);
if (options) await bench({ ...options, jobs: await possible(options) });
