/**
 * `npm run bench`: how fast a windowed word count is, from a file to files on this machine, and what it costs (`--help` says more).
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { formatTable } from "../../examples/support/table.ts";
import { emit, optionsOrExit, say, wholeNumber } from "../support/program.ts";
import { checkRows, countWords } from "./count-words.ts";
import { cachedLines, WORDS_A_LINE } from "./generate-lines.ts";
import type { Job, Measurement } from "./measure.ts";
import { type Phase, phaseShares } from "./phases.ts";

const help = `Measures a windowed word count from one file to files, in epochs of a second (examples/word-count.ts).

npm run bench -- [options]

  --lines N    lines of ${WORDS_A_LINE} words each, generated (default 1,000,000)
  --workers N  worker threads (default 2)
  --runs N     runs, each in a process of its own (default 3)
  --help       this text

Every result is compared with an independent count. Two more runs follow: one under V8's sampling profiler, whose samples
share out the CPU time among the phases, and one of many epochs of a single line, for what the protocol costs an epoch.
A table goes to standard error, JSON lines to standard output.
`;

/** Epochs of the run that measures the protocol: the ledger keeps the details of as many. */
const smallEpochs = 1000;

interface Options {
  readonly lines: number;
  readonly workers: number;
  readonly runs: number;
}

async function bench({ lines, workers, runs }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "epochflow-bench-"));
  try {
    const job = { input: await cachedLines(lines), workers };
    const expected = await countWords(job.input);
    const measured: Measurement[] = [];
    for (let run = 1; run <= runs; run++) {
      say(`run ${run} of ${runs}`);
      measured.push(await measure({ ...job, folder: join(folder, `run-${run}`) }));
      await checkRows(measured.at(-1)!.output, expected);
      emit({ kind: "run", lines, workers, ...figuresOf(measured.at(-1)!) });
    }
    say("a run under the profiler");
    const profiles = join(folder, "profiles");
    await measure({ ...job, folder: join(folder, "profiled") }, ["--cpu-prof", `--cpu-prof-dir=${profiles}`]);
    const phases = phasesOf(phaseShares(profiles), median(measured.map(cpuALine)));
    emit({ kind: "phases", unit: "µs a line", ...Object.fromEntries(phases) });
    say(`a run of ${smallEpochs} epochs`);
    const small = { input: await cachedLines(smallEpochs), workers, epochRecords: 1 };
    const { protocolMsAnEpoch } = await measure({ ...small, folder: join(folder, "epochs") });
    emit({ kind: "protocol", epochs: smallEpochs, msAnEpoch: protocolMsAnEpoch });
    say(report({ lines, workers, runs }, measured, phases, protocolMsAnEpoch));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(job: Job, nodeOptions: readonly string[] = []): Promise<Measurement> {
  mkdirSync(job.folder, { recursive: true });
  const script = fileURLToPath(new URL("measure.ts", import.meta.url));
  const args = [...nodeOptions, "--conditions=epochflow-source", script, JSON.stringify(job)];
  // As the command's launcher does: the sources need not be stripped of their types by every thread.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

function figuresOf(run: Measurement) {
  const { records, rows, epochs, elapsedMs, peakBytes } = run;
  const linesASecond = Math.round((records / elapsedMs) * 1000);
  return { linesASecond, elapsedMs, cpuMicrosecondsALine: cpuALine(run), peakBytes, epochs, rows };
}

function cpuALine({ cpuMs, records }: Measurement): number {
  return (cpuMs * 1000) / records;
}

/** Microseconds of CPU a line: what was measured without the profiler, in the shares that the profiler saw. */
function phasesOf(shares: ReadonlyMap<Phase, number>, cpuALine: number): [Phase, number][] {
  return [...shares].map(([phase, share]) => [phase, share * cpuALine]);
}

function report(options: Options, measured: readonly Measurement[], phases: [Phase, number][], protocolMs: number) {
  const { lines, workers, runs } = options;
  const figures = measured.map(figuresOf);
  const rows = figures.map((one, index) => ({ run: String(index + 1), ...cells(one) }));
  const medians = Object.fromEntries(
    Object.keys(figures[0]!).map((name) => [name, median(figures.map((one) => one[name as keyof typeof one]))]),
  ) as (typeof figures)[number];
  const total = phases.reduce((sum, [, microseconds]) => sum + microseconds, 0);
  const shares = phases.map(([phase, microseconds]) => ({
    "CPU by phase": phase,
    "µs a line": microseconds.toFixed(2),
    share: `${Math.round((microseconds / total) * 100)} %`,
  }));
  return `
Windowed word count, file to files: ${grouped(lines)} lines, ${workers} workers, ${runs} runs, ${availableParallelism()} processors, Node ${process.versions.node}

${formatTable([...rows, { run: "median", ...cells(medians) }])}

${formatTable(shares)}

The protocol costs ${protocolMs.toFixed(1)} ms an epoch: plan, decide, commit and seal, measured over ${grouped(smallEpochs)} epochs of one line.
All results equal an independent count.`;
}

function cells(figures: ReturnType<typeof figuresOf>): Record<string, string> {
  return {
    "lines/s": grouped(figures.linesASecond),
    seconds: (figures.elapsedMs / 1000).toFixed(2),
    "CPU µs/line": figures.cpuMicrosecondsALine.toFixed(2),
    "peak RSS MB": grouped(Math.round(figures.peakBytes / 1e6)),
    epochs: grouped(figures.epochs),
    rows: grouped(figures.rows),
  };
}

function grouped(value: number): string {
  return value.toLocaleString("en");
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { help: { type: "boolean" }, lines: text, workers: text, runs: text } });
  if (values.help) return "help";
  const { lines = "1000000", workers = "2", runs = "3" } = values;
  return {
    lines: wholeNumber("lines", lines),
    workers: wholeNumber("workers", workers),
    runs: wholeNumber("runs", runs),
  };
}

const options = optionsOrExit("bench", help, parseOptions);
if (options) await bench(options);
