/** What the page gets of a pipeline: plain JSON. Types alone, which browsers never load. */
import type { ErrorDescription } from "../../../shared/errors.ts";
import type { Phase } from "../phase.ts";

export interface PageData {
  /** The server's clock, epoch milliseconds. */
  readonly now: number;
  readonly pipeline: string;
  readonly uid: string;
  /** Where it is, by what each place is called. */
  readonly places: Readonly<Record<string, string>>;
  readonly version: string;
  /** What works on it: a process of this machine, or an execution of the state machine. */
  readonly worker: "process" | "execution";
  /** Whether anybody works on it at this moment; null: that cannot be told. */
  readonly atWork: boolean | null;
  readonly status: "running" | "paused" | "stopped";
  /** Why it is stopped. */
  readonly error: ErrorDescription | null;
  readonly decided: number;
  readonly committed: number;
  /** What an offset of the source counts. */
  readonly offsets: "bytes" | "records";
  readonly watermark: number | null;
  /** The oldest decision that is not committed. */
  readonly uncommitted: UncommittedData | null;
  /** What at-most-once may have lost so far. */
  readonly lost: { readonly epochs: number; readonly shares: number; readonly rows: number } | null;
  readonly partitions: readonly PartitionData[];
  /** When the ends of partitions were where they are said to be; null: nobody has looked. */
  readonly endsAsOf: number | null;
  readonly graph: GraphData;
  /** Epochs that are new, or have changed, since the last message to this page; ascending. */
  readonly epochs: readonly EpochData[];
  /** The first message: forget what was there before. */
  readonly all: boolean;
  /** What went wrong, and what was waited for, as far as this server saw it. */
  readonly incidents: readonly Incident[];
  /** Why there is nothing newer than this: the ledger cannot be read. */
  readonly problem: string | null;
  /** The run that served this page is over: how. */
  readonly ended: string | null;
}

export interface UncommittedData {
  readonly epoch: number;
  readonly decidedAt: number;
  readonly sinks: readonly string[];
  readonly failure: {
    readonly sink: string;
    readonly count: number;
    readonly since: number;
    readonly at: number;
  } | null;
  readonly error: ErrorDescription | null;
}

export interface PartitionData {
  readonly id: string;
  readonly position: number;
  readonly end: number;
  readonly high: number;
  readonly maxEventTime: number | null;
  /** Largest event time less `outOfOrder`; null before the first record, or where the pipeline is known by its ledger alone. */
  readonly watermark: number | null;
  readonly idle: boolean;
}

export type EpochStatus = "planned" | "aborted" | "decided" | "committed" | "restored";

export interface EpochData {
  readonly epoch: number;
  readonly status: EpochStatus;
  readonly attempt: number;
  /** Failed attempts in a row before, or with, this one. */
  readonly failures: number;
  readonly plannedAt: number;
  readonly decidedAt: number | null;
  readonly committedAt: number | null;
  readonly phases: readonly Phase[];
  readonly tasks: readonly TaskData[];
  /** What was read; null before the decision. */
  readonly counts: CountsData | null;
  readonly watermark: number | null;
  /** Offsets that were there when it was planned, and in none of its ranges. */
  readonly left: number;
  /** Null where its acks are collected. */
  readonly stateBytes: number | null;
  readonly error: ErrorDescription | null;
}

export interface TaskData {
  readonly stage: number;
  readonly task: number;
  readonly from: number;
  readonly to: number;
  readonly records: number;
}

export interface CountsData {
  readonly records: number;
  readonly bytes: number;
  readonly late: number;
  readonly skipped: number;
  readonly deadLettered: number;
  /** By sink. */
  readonly rows: Readonly<Record<string, number>>;
}

/** More of one epoch, for whoever asks. */
export interface EpochDetail extends EpochData {
  readonly ranges: readonly { readonly id: string; readonly from: number; readonly to: number }[];
  readonly units: readonly { readonly sink: string; readonly key: string; readonly status: string }[];
  readonly planWatermark: number | null;
}

export interface Incident {
  readonly kind: "aborted" | "commit-failed" | "step-failed" | "waiting" | "handed-over";
  readonly from: number;
  readonly to: number;
  readonly epoch?: number;
  readonly attempt?: number;
  readonly what: string;
  readonly error: ErrorDescription | null;
}

export interface GraphData {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Only what the ledger knows: sources, operators with state, sinks. */
  readonly partial: boolean;
}

export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly detail: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** What of an epoch's counts went along it; null: that is not counted. */
  readonly count: "records" | "late" | "deadLettered" | "skipped" | { readonly rows: string } | null;
  /** Aside from the main way: late records, dead letters. */
  readonly side: boolean;
}
