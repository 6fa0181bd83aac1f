/** `npm run bench:scale`: what grows with what (`--help` says more). */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../../../examples/support/table.ts";
import { aBroker } from "../../support/needing.ts";
import { emit, optionsOrExit, say } from "../../support/program.ts";
import { inProcess } from "../in-process.ts";
import { grouped } from "../report.ts";
import { Topics } from "../topics.ts";
import { cpuARecord, type Dimension, dimensions } from "./dimensions.ts";
import type { Point, PointFigures } from "./measure.ts";
import { judge, type Verdict } from "./verdict.ts";
import { recordsOf } from "./workload.ts";

const help = `Measures how the cost of a keyed, windowed count grows: that of a record, an epoch's snapshot, and memory.

npm run bench:scale -- [options]

  --only NAME        one of those below; may come more than once (default: all)
  --quick            small sizes and few points: whether it runs, in seconds rather than minutes
  --tolerance X      limits on growth of CPU time times X (default 1; with --quick 10)
  --help             this text

${dimensions.map(({ name, about, values, unit }) => `  ${name.padEnd(12)}${about}: ${values.map(grouped).join(", ")} ${unit}\n`).join("")}
Each point is a process of its own, in which one thread does everything, but for tasks. Its results are compared with counts that are known beforehand. A verdict
is about the growth from any point to any later one. The exit code is 1 if a verdict does not hold. topic needs Java and Maven, from which a broker is started.
Tables go to standard error, JSON lines to standard output.
`;

interface Options {
  readonly dimensions: readonly Dimension[];
  readonly quick: boolean;
  readonly tolerance: number;
}

/** How much smaller a quick look is. */
const quickScale = 0.02;

type Measured = readonly [value: number, figures: PointFigures];

async function bench({ dimensions, quick, tolerance }: Options): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const dimension of dimensions) {
    const points: Measured[] = [];
    for (const value of quick ? dimension.quickValues : dimension.values) {
      say(`${dimension.name}: ${grouped(value)} ${dimension.unit}`);
      points.push([value, await measure(dimension, value, quick)]);
      emit({ kind: "point", dimension: dimension.name, value, unit: dimension.unit, ...points.at(-1)![1] });
    }
    const found = verdictsOf(dimension, points, tolerance);
    for (const verdict of found) emit({ kind: "verdict", ...verdict });
    verdicts.push(...found);
    say(`\n${dimension.about}\n\n${pointTable(dimension, points)}\n`);
  }
  say(
    `${verdictTable(verdicts)}\n\n${availableParallelism()} processors, Node ${process.versions.node}. All results are right.`,
  );
  return verdicts;
}

async function measure(dimension: Dimension, value: number, quick: boolean): Promise<PointFigures> {
  const point = dimension.point(value, quick ? quickScale : 1);
  const folder = mkdtempSync(join(tmpdir(), "epochflow-scale-"));
  try {
    const run = (point: Point) =>
      inProcess<PointFigures>("scale/measure.ts", [JSON.stringify({ point, folder, warm: !quick })]);
    return dimension.partitions === undefined
      ? await run(point)
      : await onTopic(point, dimension.partitions(value), run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onTopic(point: Point, partitions: number, run: (point: Point) => Promise<PointFigures>) {
  await using topics = await Topics.start();
  const topic = "records";
  const records = point.steps.reduce((sum, step) => sum + step.records, 0);
  await topics.load(topic, partitions, recordsOf(point.workload, 0, records));
  return await run({ ...point, topic: { topic, brokers: topics.bootstrap } });
}

function verdictsOf({ name, checks }: Dimension, points: readonly Measured[], tolerance: number): Verdict[] {
  return checks.map(({ figure, from = 0, isTime, ...limit }) => {
    const figures = points.filter(([value]) => value >= from).map(([, figures]) => figure(figures));
    const { mostGrowth } = limit;
    return judge(name, { ...limit, ...(isTime && { mostGrowth: mostGrowth! * tolerance }) }, figures);
  });
}

function pointTable({ unit, shown }: Dimension, points: readonly Measured[]): string {
  return formatTable(
    points.map(([value, { steps, peakBytes, rows }]) => {
      const step = steps.at(shown ?? -1)!;
      const { epochs, snapshotBytes, snapshotCpuMs, restoreCpuMs } = step;
      return {
        [unit]: grouped(value),
        "CPU µs a record": cpuARecord(step).toFixed(2),
        "CPU ms an epoch": (step.cpuMs / epochs).toFixed(1),
        "snapshot bytes": grouped(Math.round(snapshotBytes)),
        "CPU ms": snapshotCpuMs?.toFixed(1) ?? "",
        "restore CPU ms": restoreCpuMs.toFixed(0),
        epochs: grouped(epochs),
        "peak RSS MB": grouped(Math.round(peakBytes / 1e6)),
        "right results": grouped(rows),
      };
    }),
  );
}

function verdictTable(verdicts: readonly Verdict[]): string {
  return formatTable(
    verdicts.map(({ dimension, what, mostGrowth, most, found, holds }) => ({
      dimension,
      what,
      limit: most === undefined ? `× ${mostGrowth}` : grouped(most),
      found: most === undefined ? `× ${found.toFixed(2)}` : grouped(found),
      "": holds ? "holds" : "FAILS",
    })),
  );
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: { help: flag, quick: flag, only: { type: "string", multiple: true }, tolerance: { type: "string" } },
  });
  if (values.help) return "help";
  const { only, quick = false, tolerance = quick ? "10" : "1" } = values;
  const names = dimensions.map(({ name }) => name);
  for (const name of only ?? [])
    if (!names.includes(name)) throw new Error(`--only knows ${names.join(", ")}, not "${name}"`);
  if (!/^\d+(\.\d+)?$/.test(tolerance)) throw new Error(`--tolerance takes a number, not "${tolerance}"`);
  const wanted = dimensions.filter(({ name }) => only?.includes(name) !== false);
  return { dimensions: wanted, quick, tolerance: Number(tolerance) };
}

const options = optionsOrExit("bench:scale", help, parseOptions);
if (options) {
  const reason = options.dimensions.some(({ partitions }) => partitions) ? await aBroker() : undefined;
  if (reason !== undefined) say(`topic is left out: ${reason}`);
  const possible = options.dimensions.filter(({ partitions }) => reason === undefined || partitions === undefined);
  const verdicts = await bench({ ...options, dimensions: possible });
  if (possible.length === 0 || verdicts.some(({ holds }) => !holds)) process.exitCode = 1;
}
