import type { Head, Ledger } from "../shared/ports/ledger.ts";
import type { StateOptions } from "./find-state.ts";
import { isOfStack, type StackOptions } from "./stack-options.ts";

/** Which pipeline is meant: one of this machine, or one that a stack has deployed. */
export interface PipelineOptions extends StateOptions, StackOptions {}

/** A pipeline that commands look at and change, wherever it runs. */
export interface OpenPipeline extends AsyncDisposable {
  /** What works on it: a process of this machine, or an execution of the state machine. */
  readonly worker: "process" | "execution";
  /** Where it is, by what each place is called. */
  readonly places: Readonly<Record<string, string>>;
  /** What names it to other commands: ` --stack words`; nothing where the working directory does. */
  readonly flags: string;
  readonly ledger: Ledger;
  /** As it was when this was opened. */
  readonly head: Head;
  /** Whether anybody works on it at this moment. */
  atWork(): Promise<boolean>;
  /** Keeps the other processes of this machine from working on it. @throws UsageError `state-in-use` */
  takeLease(): Disposable;
  /** Bytes of a snapshot object; undefined if it is missing. */
  sizeOf(object: string): Promise<number | undefined>;
  /** Has it look whether there is something to do. Gives what there is to say of that. */
  wake(): Promise<string>;
  /** Gives up what a sink has not committed of an epoch, by `abandonSink`. */
  abandon(what: AbandonRequest): Promise<Abandoned>;
}

export interface AbandonRequest {
  readonly sink: string;
  readonly epoch: number;
  /** The sink's service is not asked whether it has the output after all. */
  readonly unasked?: true;
  /** Values of parameters, of a pipeline on this machine. */
  readonly set?: Readonly<Record<string, string>>;
}

/** What became of the parts of a sink's output. */
export interface Abandoned {
  readonly lost: number;
  readonly committed: number;
  /** Nobody can tell any more. */
  readonly unknown: number;
}

/** @throws UsageError for options that do not go together; those of `openState` and `openStack` */
export async function openPipeline(pipeline: string | undefined, options: PipelineOptions): Promise<OpenPipeline> {
  if (isOfStack(pipeline, options)) return await (await import("./stack/open.ts")).openStack(options);
  return await (await import("./state.ts")).openState(pipeline, options);
}
