import type { LostSoFar } from "../shared/epoch/epoch.ts";
import type { ErrorDescription } from "../shared/errors.ts";
import type { Log } from "./watch/log.ts";
import type { MetricsOptions } from "./watch/metrics/metrics-server.ts";

/** How `run` runs a pipeline on this machine. All have defaults. */
export interface RunOptions {
  /** Values of the pipeline's parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * Name of this run's pipeline, in place of the one in its module: so one module runs many times, with other parameters. State, output and transactional ids are
   * the name's own.
   */
  readonly name?: string;
  /** Folder of ledger, snapshots and lease; `.epochflow/<pipeline name>` below the working directory. */
  readonly state?: string;
  /** Records an epoch takes, exactly; turns adaptation off. */
  readonly epochRecords?: number;
  /** Milliseconds that an epoch should take (default 1000); its size adapts. With `epochRecords` too, whichever comes first. */
  readonly epochIntervalMs?: number;
  /** Most tasks of a stage, and the number of worker threads; the number of processors by default. */
  readonly parallelism?: number;
  /** Goes on when all input is processed: what comes in later is taken up, until `signal` ends it. Epochs are planned `epochIntervalMs` apart. */
  readonly follow?: boolean;
  /**
   * Milliseconds for which infrastructure that keeps failing is tried again before the run gives up; 0 for files, 2 minutes with services, without end with
   * `follow`.
   */
  readonly patienceMs?: number;
  /** Leaves windows open at the end of the input. */
  readonly hold?: boolean;
  /** Waits while another process works on the same state, instead of giving up. */
  readonly wait?: boolean;
  /** Milliseconds after which a task is taken for dead (default 60,000). */
  readonly taskTimeoutMs?: number;
  /** Attempts of an epoch that fail for the user's code or for a loss (I8) before the pipeline stops; 3. */
  readonly attempts?: number;
  /** Checkpoints to retain; 3. */
  readonly retain?: number;
  /** Called at every change, at most ten times a second. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called for what a person should know: a retry, a back-off, a closed window. */
  readonly onMessage?: (message: Message) => void;
  /** Is told what happens, event by event: pino, one of its child loggers, or anything of that shape (docs/watching.md). */
  readonly log?: Log;
  /** Measures the run for Prometheus: serves `/metrics` while it goes on, or fills a registry (docs/watching.md). */
  readonly metrics?: MetricsOptions;
  /** Serves a page that shows the run while it goes on, to this machine alone. Port 0: any that is free; without one 4040, or the next that is free. */
  readonly ui?: { readonly port?: number | undefined };
  /** Aborting it ends the run after the running epoch (committed); everything is kept. */
  readonly signal?: AbortSignal;
}

export interface Message {
  readonly level: "info" | "warning";
  readonly text: string;
  readonly error?: ErrorDescription;
}

/** Where the run is. Counts are of this run, but for `epoch`, `position` and `watermark`. */
export interface Progress {
  /** Last decided, and last committed epoch. */
  readonly decided: number;
  readonly committed: number;
  readonly epochs: number;
  readonly records: number;
  readonly bytes: number;
  readonly rows: number;
  /** What an offset counts. */
  readonly offsets: "bytes" | "records";
  /** Offsets that are read, and that there are, over all partitions. */
  readonly position: number;
  readonly end: number;
  /** Epoch milliseconds. */
  readonly watermark: number | null;
  readonly elapsedMs: number;
}

/** Of a run that has done nothing yet. */
export const noProgress: Progress = {
  decided: 0,
  committed: 0,
  epochs: 0,
  records: 0,
  bytes: 0,
  rows: 0,
  offsets: "bytes",
  position: 0,
  end: 0,
  watermark: null,
  elapsedMs: 0,
};

export interface RunResult {
  /**
   * - `done`: all input is processed and committed;
   * - `nothing-new`: it was so already;
   * - `interrupted`: `signal` ended it, between two epochs;
   * - `paused`: by `epochflow pause`, now or before;
   * - `stopped`: by `error`; a loss (I8) needs `resume`, a failure of user code goes on with the next run;
   * - `failed`: infrastructure (`error`) kept failing, nothing is lost, run again;
   * - `in-use`: another process works on this state.
   */
  readonly outcome: "done" | "nothing-new" | "interrupted" | "paused" | "stopped" | "failed" | "in-use";
  readonly error?: ErrorDescription;
  readonly progress: Progress;
  /** Records late, skipped and dead-lettered in this run. */
  readonly late: number;
  readonly skipped: number;
  readonly deadLettered: number;
  /** What an at-most-once run may have lost; absent where nothing is. */
  readonly lost?: LostSoFar;
  /** Set if the end of the input closed windows: later records of them will be late. */
  readonly closedUntil: number | null;
  /** Folder of the state, and of each files sink by id. */
  readonly state: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Topic of each Kafka sink by id; "" where it is computed. */
  readonly topics: Readonly<Record<string, string>>;
}
