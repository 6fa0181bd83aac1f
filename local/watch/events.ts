import type { Ack, DecidedEpoch, EpochRow } from "../../shared/epoch/epoch.ts";
import type { OperateOutcome } from "../../shared/epoch/operate.ts";
import type { TaskName } from "../../shared/epoch/plan.ts";
import type { ErrorDescription } from "../../shared/errors.ts";
import type { EpochId, Head } from "../../shared/ports/ledger.ts";
import type { PartitionStatus, Source } from "../../shared/ports/source.ts";
import type { RunResult } from "../options.ts";

/** What happens in a run, for those who watch it: its log, its metrics and its page. Rows are as the ledger has them. */
export type RunEvent =
  /** It can be watched there: its metrics, or its page. */
  | { readonly type: "serving"; readonly what: string; readonly url: string }
  | { readonly type: "run-started"; readonly head: Head; readonly follow: boolean; readonly parallelism: number }
  | {
      readonly type: "source-seen";
      readonly partitions: readonly PartitionStatus[];
      /** What an offset of it counts. */
      readonly offsets: Source["offsets"];
    }
  | { readonly type: "epoch-planned"; readonly row: EpochRow }
  | {
      readonly type: "task-ended";
      readonly task: TaskName;
      readonly outcome: OperateOutcome;
      readonly durationMs: number;
    }
  | { readonly type: "epoch-decided"; readonly row: DecidedEpoch; readonly acks: readonly Ack[] }
  | { readonly type: "epoch-committed"; readonly row: DecidedEpoch }
  | {
      readonly type: "attempt-aborted";
      readonly id: EpochId;
      /** Null where the ledger tells nothing of it any more. */
      readonly error: ErrorDescription | null;
      /** Failed attempts of the epoch in a row. */
      readonly failures: number;
    }
  | {
      readonly type: "commit-failed";
      readonly epoch: number;
      /** Absent: the sinks are committed, and the epoch could not be completed. */
      readonly sink?: string;
      readonly error: ErrorDescription;
    }
  | {
      /** A step of the state machine failed, and is tried again, or its attempt aborted. */
      readonly type: "step-failed";
      readonly step: string;
      readonly place: Partial<TaskName>;
      readonly error: ErrorDescription;
    }
  | { readonly type: "waiting"; readonly seconds: number }
  | { readonly type: "waiting-for-state"; readonly state: string }
  | { readonly type: "parameters-changed"; readonly text: string }
  | { readonly type: "held-back"; readonly text: string }
  | { readonly type: "handed-over"; readonly to: string }
  | { readonly type: "collect-failed"; readonly error: ErrorDescription }
  | { readonly type: "run-ended"; readonly result: RunResult };

/** Whoever watches must neither throw nor wait: the run goes on at once. */
export type Watcher = (event: RunEvent) => void;
