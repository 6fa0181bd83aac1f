/**
 * One measured run, in a process of its own, so that its memory and CPU are its own too: prints a `Measurement` as JSON.
 *
 *     node --conditions=epochflow-source test/bench/measure.ts '{"module": …, "parameters": …, "folder": …, "workers": 2}'
 */
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { openLedger } from "../../local/compose.ts";
import { run } from "../../local/run.ts";
import type { Ack, EpochRow } from "../../shared/epoch/epoch.ts";
import type { Ledger } from "../../shared/ports/ledger.ts";

export interface MeasuredRun {
  /** The pipeline's. */
  readonly module: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The state goes here. */
  readonly folder: string;
  readonly workers: number;
  /** Records of an epoch; without it epochs take a second. */
  readonly epochRecords?: number;
}

export interface Measurement {
  readonly records: number;
  readonly rows: number;
  readonly epochs: number;
  readonly elapsedMs: number;
  /** User and system time of all threads. */
  readonly cpuMs: number;
  readonly peakBytes: number;
  /** What the protocol costs an epoch: its time without that of its operator tasks. */
  readonly protocolMsAnEpoch: number;
}

async function measure(job: MeasuredRun): Promise<Measurement> {
  const { module, parameters, folder, workers, epochRecords } = job;
  const state = join(folder, "state");
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  const { outcome, error, progress } = await run(module, {
    parameters,
    state,
    parallelism: workers,
    ...(epochRecords === undefined ? { epochIntervalMs: 1000 } : { epochRecords }),
  });
  const elapsedMs = performance.now() - began;
  if (outcome !== "done") throw new Error(`the run ended as ${outcome}: ${error?.message ?? ""}`);
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    records: progress.records,
    rows: progress.rows,
    epochs: progress.epochs,
    elapsedMs,
    cpuMs: (user + system) / 1000,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    protocolMsAnEpoch: await protocolMsAnEpoch(state),
  };
}

/**
 * From the first plan to the last commit, without the time in which operator tasks ran, by the ledger's own timestamps; per epoch. The first epoch is left
 * out, since its tasks wait for their threads to start.
 */
async function protocolMsAnEpoch(state: string): Promise<number> {
  const ledger = openLedger(state);
  try {
    const { committed } = (await ledger.head())!;
    const rows = await ledger.epochs({ from: 2, to: committed });
    let tasksMs = 0;
    for (const row of rows) tasksMs += await taskMs(ledger, row);
    const last = rows.at(-1);
    if (last?.status !== "decided") return Number.NaN;
    return (last.committedAt! - rows[0]!.plannedAt - tasksMs) / rows.length;
  } finally {
    await ledger.close();
  }
}

/** Stages come one after another; the tasks of one at the same time. */
async function taskMs(ledger: Ledger, { epoch, attempt }: EpochRow): Promise<number> {
  const stages = Map.groupBy(await ledger.acks({ epoch, attempt }), (ack: Ack) => ack.stage);
  let sum = 0;
  for (const acks of stages.values())
    sum += Math.max(...acks.map((ack) => ack.endedAt)) - Math.min(...acks.map((ack) => ack.startedAt));
  return sum;
}

process.stdout.write(`${JSON.stringify(await measure(JSON.parse(process.argv[2]!)))}\n`);
