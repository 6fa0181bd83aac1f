import { Worker } from "node:worker_threads";
import type { Parcel } from "../shared/adapters/memory/shuffle.ts";
import type { OperateOutcome } from "../shared/epoch/operate.ts";
import type { TaskName } from "../shared/epoch/plan.ts";
import { type ErrorDescription, InfrastructureError, revive, UserCodeError } from "../shared/errors.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import { entryUrl } from "./package-files.ts";
import { buffersOf, ParcelRoom } from "./parcels.ts";
import { readWhereabouts, whereaboutsBytes } from "./whereabouts.ts";
import { startWithRoom } from "./worker-memory.ts";

/** What a worker thread is made with. */
export interface WorkerData {
  readonly whereabouts: SharedArrayBuffer;
}

/** The first thing that it is told: what to work on. */
export interface WorkerSetup {
  readonly url: string;
  /** The pipeline's name in this run. */
  readonly pipeline: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly state: string;
  readonly uid: string;
}

export interface WorkerRequest {
  readonly name: TaskName;
  /** What the tasks of the stage before have for it. */
  readonly parcels: readonly Parcel[];
}

export type WorkerAnswer =
  | { readonly kind: "read"; readonly records: number; readonly bytes: number }
  | { readonly kind: "done"; readonly outcome: OperateOutcome; readonly parcels: readonly Parcel[] }
  | { readonly kind: "failed"; readonly error: ErrorDescription };

/** The run that the threads work for. */
interface Work {
  readonly setup: WorkerSetup;
  onRead(records: number, bytes: number): void;
}

/**
 * Operator tasks in worker threads. A task goes to the thread of its number, which has the state of its key groups warm. One that takes too long, or all
 * memory, takes its thread with it; that is noted as the attempt's failure, and the next attempt is smaller.
 */
export class OperatorThreads {
  private readonly threads: Thread[];
  private readonly parcels = new ParcelRoom();

  /** @param warm how many are started at once, since the first epoch will need them: a thread takes as long to load its modules as a run takes to find out what there is to do */
  constructor(count: number, { taskTimeoutMs, warm }: { readonly taskTimeoutMs: number; readonly warm: number }) {
    this.threads = Array.from({ length: count }, () => new Thread(taskTimeoutMs));
    for (const thread of this.threads.slice(0, warm)) thread.warm();
  }

  /** Tells what to work on. There are no tasks before. */
  begin(work: Work): void {
    for (const thread of this.threads) thread.begin(work);
  }

  async operate(name: TaskName, ledger: Ledger): Promise<OperateOutcome> {
    const thread = this.threads[name.task % this.threads.length]!;
    try {
      return await thread.run(name, this.parcels);
    } catch (error) {
      if (!(error instanceof UserCodeError)) throw error;
      await ledger.fail(name, { error: error.describe(), shrink: true });
      return "failed";
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.end()));
  }
}

class Thread {
  private worker: Worker | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private readonly whereabouts = new SharedArrayBuffer(whereaboutsBytes);
  private readonly taskTimeoutMs: number;
  private work: Work | undefined;

  constructor(taskTimeoutMs: number) {
    this.taskTimeoutMs = taskTimeoutMs;
  }

  begin(work: Work): void {
    this.work = work;
    this.worker?.postMessage(work.setup);
  }

  /** One task at a time, as a Lambda sandbox. */
  run(name: TaskName, room: ParcelRoom): Promise<OperateOutcome> {
    const result = this.queue.then(() => this.once(name, room));
    this.queue = result.catch(() => undefined);
    return result;
  }

  warm(): void {
    this.worker ??= this.start();
  }

  async end(): Promise<void> {
    await this.worker?.terminate();
    this.worker = undefined;
  }

  private once(name: TaskName, room: ParcelRoom): Promise<OperateOutcome> {
    this.worker ??= this.start();
    const { worker } = this;
    const { promise, resolve, reject } = Promise.withResolvers<OperateOutcome>();
    const onMessage = (answer: WorkerAnswer) => {
      if (answer.kind === "read") this.work?.onRead(answer.records, answer.bytes);
      else if (answer.kind === "done") {
        room.add(name, answer.parcels);
        resolve(answer.outcome);
      } else reject(revive(answer.error));
    };
    const onError = (error: unknown) => reject(this.crash(error, name));
    const onExit = (code: number) =>
      reject(
        new InfrastructureError("worker-ended", `a worker thread ended by itself (code ${code})${this.at()}`, {
          wayOut: "no function of a pipeline may call process.exit()",
        }),
      );
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    const timer = setTimeout(() => reject(this.late(name)), this.taskTimeoutMs);
    const parcels = room.take(name);
    worker.postMessage({ name, parcels } satisfies WorkerRequest, buffersOf(parcels));
    return promise
      .catch(async (error) => {
        if (!(error instanceof InfrastructureError) || error.code === "worker-ended") await this.end();
        throw error;
      })
      .finally(() => {
        clearTimeout(timer);
        worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      });
  }

  private start(): Worker {
    const workerData: WorkerData = { whereabouts: this.whereabouts };
    const worker = startWithRoom(() => new Worker(entryUrl("local/worker"), { workerData, stdout: true }));
    if (this.work) worker.postMessage(this.work.setup);
    // What a pipeline prints is for people: standard output belongs to machines (`run --json`).
    worker.stdout.on("data", (text) => process.stderr.write(text));
    // Between two tasks nobody waits for the worker: one that breaks then is replaced by the next task.
    worker.on("error", () => this.forget(worker)).on("exit", () => this.forget(worker));
    return worker;
  }

  private forget(worker: Worker): void {
    if (this.worker === worker) this.worker = undefined;
  }

  private at(): string {
    const { operator, partition, offset } = readWhereabouts(this.whereabouts);
    return operator ? `, in operator ${operator}, at ${partition} offset ${offset}` : "";
  }

  private late(name: TaskName): UserCodeError {
    const seconds = this.taskTimeoutMs / 1000;
    const { operator, partition, offset } = readWhereabouts(this.whereabouts);
    return new UserCodeError("task-timeout", `a task did not end within ${seconds} s${this.at()}`, {
      wayOut: "look for a function that never returns, or give tasks more time with --task-timeout",
      place: { epoch: name.epoch, attempt: name.attempt, ...(operator && { operator, partition, offset }) },
    });
  }

  private crash(error: unknown, name: TaskName): Error {
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
      return new UserCodeError("out-of-memory", `a task ran out of memory${this.at()}`, {
        wayOut: "give Node more with NODE_OPTIONS=--max-old-space-size, or epochs fewer records with --epoch-records",
        place: { epoch: name.epoch, attempt: name.attempt },
      });
    return new InfrastructureError("worker-failed", `a worker thread failed: ${text}`, { cause: error });
  }
}
