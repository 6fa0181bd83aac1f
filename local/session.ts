import type { ComposedEngine } from "../composition/engine.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { collect } from "../shared/epoch/collect.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { decidedIn } from "../shared/epoch/epoch.ts";
import { type OperateOutcome, operate } from "../shared/epoch/operate.ts";
import type { TaskName } from "../shared/epoch/plan.ts";
import type { Policy } from "../shared/epoch/policy.ts";
import { resetPipeline } from "../shared/epoch/restore.ts";
import { wake } from "../shared/epoch/wake.ts";
import { describeError, type ErrorDescription, UsageError, UserCodeError } from "../shared/errors.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Head, Ledger } from "../shared/ports/ledger.ts";
import { composeLocalEngine, openLedger, removePartialObjects } from "./compose.ts";
import { LocalExecutions } from "./executions.ts";
import { outputsOf, topicsOf } from "./folders.ts";
import { type HeldBackWatch, heldBackWatch } from "./held-back.ts";
import { type Handlers, handlersOf, interpret } from "./machine.ts";
import { OperatorThreads } from "./operators.ts";
import type { RunOptions, RunResult } from "./options.ts";
import { localPolicy, patienceOf } from "./policy.ts";
import { Sweeper, type SweepTimes } from "./sweeper.ts";
import { Tracker } from "./tracker.ts";
import type { Watcher } from "./watch/events.ts";
import { watchedHandlers } from "./watch/watched-handlers.ts";
import { Watchdog } from "./watchdog.ts";
import { heapsMade } from "./worker-memory.ts";

/** Seams for tests: faults between the protocol and its ports, and choices that a plan leaves open. */
export interface Internals {
  readonly engine?: (engine: Engine) => Engine;
  readonly handlers?: (handlers: Handlers) => Handlers;
  readonly chooseTasks?: Policy["chooseTasks"];
  readonly sweepTimes?: SweepTimes;
}

export interface Loaded {
  readonly topology: Topology;
  readonly codeDigest: string;
  /** The pipeline's module, for worker threads; without it operators run in this thread. */
  readonly url: string | undefined;
  readonly state: string;
  /** Whoever watches the run. */
  readonly watch: Watcher | undefined;
}

const retainedHistory = 1000;
const defaultTaskTimeoutMs = 60_000;
/** Threads that are started before there is work for them; more are when there is. */
const warmThreads = 2;
/** How often an idle pipeline that follows its input looks for more, where the source cannot tell. */
const lookEveryMs = 100;

/** One run, by a process that holds the lock on the state: wakes the coordinator, and stays until it is idle. */
export async function runSession(loaded: Loaded, options: RunOptions, internals: Internals): Promise<RunResult> {
  const { topology, state } = loaded;
  // They load their modules while this one opens the ledger, connects and plans.
  const threads = startThreads(loaded, options, internals);
  let ledger: Ledger | undefined;
  try {
    ledger = openLedger(state);
    const head = await headOf(ledger, topology, state);
    const session = await startSession(loaded, options, internals, { threads, ledger, head });
    const { parallelism } = session;
    loaded.watch?.({ type: "run-started", head, follow: options.follow ?? false, parallelism });
    return head.status === "running" ? await session.run() : await session.result("nothing-new");
  } finally {
    await threads?.close();
    await ledger?.close();
  }
}

/**
 * HEAD as this run finds it. A stop for the user's code or data ends with the next run, which is the user's word; one for a loss (I8) with `resume`
 * alone, unless nothing was ever processed: then nothing can be lost, and the pipeline begins anew, with whatever was mended in code or input.
 */
async function headOf(ledger: Ledger, topology: Topology, state: string): Promise<Head> {
  const first = {
    pipeline: topology.name,
    uid: systemRandom.nonce(),
    fingerprint: JSON.stringify(fingerprint(topology)),
  };
  const head = await ledger.open(first);
  if (head.pipeline !== topology.name)
    throw new UsageError(
      "foreign-state",
      `${state} is the state of pipeline ${head.pipeline}, not of ${topology.name}`,
      {
        wayOut: "give this pipeline a state folder of its own with --state",
      },
    );
  if (head.status !== "stopped") return head;
  if (await isUntouched(ledger, head)) await resetPipeline({ ledger, clock: systemClock }, first.fingerprint);
  else if (head.error?.kind === "loss") return head;
  return await ledger.setStatus("running");
}

async function isUntouched(ledger: Ledger, { decided }: Head): Promise<boolean> {
  const last = await ledger.epoch(decided);
  return (
    last === undefined ||
    (last.status === "decided" && last.decision.kind === "restore" && last.decision.partitions.length === 0)
  );
}

/** Of a pipeline that is a module. */
function startThreads({ url }: Loaded, options: RunOptions, internals: Internals): OperatorThreads | undefined {
  if (url === undefined || internals.engine) return undefined;
  const { taskTimeoutMs = defaultTaskTimeoutMs } = options;
  return new OperatorThreads(localPolicy(options).parallelism, { taskTimeoutMs, warm: warmThreads });
}

interface Begun {
  readonly threads: OperatorThreads | undefined;
  readonly ledger: Ledger;
  readonly head: Head;
}

async function startSession(
  loaded: Loaded,
  options: RunOptions,
  internals: Internals,
  { threads, ledger, head: { uid, status } }: Begun,
): Promise<Session> {
  const policy = {
    ...localPolicy(options, () => options.signal?.aborted ?? false),
    ...(internals.chooseTasks && { chooseTasks: internals.chooseTasks }),
  };
  const executions: LocalExecutions = new LocalExecutions((name) => session.interpret(name));
  const { url, topology, state } = loaded;
  if (status === "running" && url !== undefined) {
    const setup = { url, pipeline: topology.name, parameters: options.parameters ?? {}, state, uid };
    threads?.begin({ setup, onRead: (records, bytes) => session.read(records, bytes) });
  }
  if (threads) await heapsMade();
  const composed = await composeLocalEngine({ ...loaded, uid, ledger, policy, executions });
  const session: Session = new Session(loaded, options, internals, composed, executions, threads);
  return session;
}

class Session {
  private readonly engine: Engine;
  private readonly composed: ComposedEngine;
  private readonly tracker: Tracker;
  private readonly watchdog: Watchdog;
  private readonly heldBack: HeldBackWatch | undefined;
  private readonly threads: OperatorThreads | undefined;
  private readonly executions: LocalExecutions;
  private readonly sweeper: Sweeper;
  private readonly loaded: Loaded;
  private readonly options: RunOptions;
  private readonly handlers: Handlers;

  constructor(
    loaded: Loaded,
    options: RunOptions,
    internals: Internals,
    composed: ComposedEngine,
    executions: LocalExecutions,
    threads: OperatorThreads | undefined,
  ) {
    this.threads = threads;
    this.loaded = loaded;
    this.options = options;
    this.composed = composed;
    this.executions = executions;
    this.sweeper = new Sweeper(() => this.sweep(), internals.sweepTimes);
    this.watchdog = new Watchdog(
      options.attempts ?? 3,
      patienceOf(options, composed.topology),
      composed.policy.draining,
      options.onMessage,
    );
    const { watch } = loaded;
    this.tracker = new Tracker(
      composed,
      options.onProgress,
      watch && ((partitions) => watch({ type: "source-seen", partitions, offsets: composed.source.offsets })),
    );
    const watched = {
      ...composed,
      source: this.tracker.watch(composed.source),
      read: (records: number, bytes: number) => this.tracker.read(records, bytes),
    };
    this.engine = internals.engine?.(watched) ?? watched;
    this.heldBack = heldBackWatch(composed.source, (text) => {
      options.onMessage?.({ level: "warning", text });
      watch?.({ type: "held-back", text });
    });
    const plain = handlersOf(
      this.engine,
      (name) => this.operate(name),
      watch && ((seconds) => watch({ type: "waiting", seconds })),
    );
    const handlers = this.observed(watch ? watchedHandlers(plain, this.engine.ledger, watch) : plain);
    this.handlers = internals.handlers?.(handlers) ?? handlers;
  }

  get parallelism(): number {
    return this.engine.policy.parallelism;
  }

  read(records: number, bytes: number): void {
    this.tracker.read(records, bytes);
  }

  async run(): Promise<RunResult> {
    const { engine, executions, tracker } = this;
    try {
      await tracker.begin();
      const before = tracker.progress;
      await removePartialObjects(this.loaded.state);
      do {
        await wake({ pipeline: engine.topology.name, uid: engine.uid, ledger: engine.ledger, executions });
        await executions.settled();
      } while (await this.goesOn());
      await this.sweeper.finish();
      const { committed } = tracker.progress;
      return await this.result(committed === before.committed ? "nothing-new" : "done");
    } finally {
      await this.composed.close();
    }
  }

  /** The coordinator is idle. To follow the input is to look now and then whether there is more. */
  private async goesOn(): Promise<boolean> {
    const { follow, signal } = this.options;
    while (follow && !signal?.aborted && !this.watchdog.error) {
      const head = await this.engine.ledger.head();
      if (head?.status !== "running") return false;
      if (await this.hasMore(head.decided)) return true;
      this.sweeper.look();
      await this.untilMore();
    }
    return false;
  }

  /** Until the source says that there is more, or else for a moment. */
  private async untilMore(): Promise<void> {
    const { source, policy } = this.engine;
    const ends = [this.watchdog.signal, ...(this.options.signal ? [this.options.signal] : [])];
    const told = await source.awaitMore?.(AbortSignal.any(ends)).then(
      () => true,
      () => false, // whoever looks next meets what is the matter
    );
    if (!told) await systemClock.sleep(Math.min(lookEveryMs, policy.intervalMs));
  }

  /** Something was written that no decided epoch has read. What keeps this from being seen, `Plan` will tell. */
  private async hasMore(decided: number): Promise<boolean> {
    const { ledger, source } = this.engine;
    try {
      const known = decidedIn(await ledger.epoch(decided))?.partitions ?? [];
      const positions = new Map(known.map(({ id, position }) => [id, position]));
      return (await source.discover(known)).some(({ id, start, high }) => high > (positions.get(id) ?? start));
    } catch {
      return true;
    }
  }

  private async operate(name: TaskName): Promise<OperateOutcome> {
    const { engine, threads } = this;
    const outcome = await (threads ? threads.operate(name, engine.ledger) : operate(engine, name));
    if (outcome !== "replan") return outcome;
    // On AWS another version of the functions plans anew. Here the version that planned is this very process.
    throw new UserCodeError("code-changed", "the code of the pipeline was changed while it ran", {
      wayOut: "run it again: it goes on where it stopped",
    });
  }

  /** Runs an execution of the state machine to its end. */
  async interpret(name: string): Promise<void> {
    const execution = interpret(name, this.handlers);
    const { promise: gaveUp, resolve } = Promise.withResolvers<void>();
    const abort = () => resolve(execution.abort());
    const { signal } = this.watchdog;
    signal.addEventListener("abort", abort);
    await Promise.race([execution.result, gaveUp]).finally(() => signal.removeEventListener("abort", abort));
  }

  /** The handlers, with the tracker and the watchdog looking on. */
  private observed(handlers: Handlers): Handlers {
    const { tracker, watchdog } = this;
    type Answer = { readonly outcome: string; readonly lost?: number };
    const after: Record<string, (input: { epoch: number }, answer: Answer) => Promise<void>> = {
      Plan: async (_, { lost }) => {
        void this.heldBack?.planned(); // nobody waits for it
        if (lost === undefined) return;
        await tracker.look(lost);
        const text = `epoch ${lost} was cut short, and part of it is lost: at-most-once does not try it again`;
        this.options.onMessage?.({ level: "warning", text });
      },
      Decide: async ({ epoch }, { outcome }) => {
        if (outcome !== "decided") return;
        await tracker.attemptOver(epoch, true);
      },
      Abort: async ({ epoch }, { outcome }) => {
        await tracker.attemptOver(epoch, outcome === "decided");
        await watchdog.aborted(this.engine.ledger, epoch);
      },
      Seal: async ({ epoch }, { outcome }) => {
        if (outcome !== "committed") return;
        tracker.committed(epoch);
        this.sweeper.committed(epoch, tracker.progress.bytes);
      },
    };
    return Object.fromEntries(
      Object.entries(handlers).map(([state, handler]) => [
        state,
        async (input: never) => {
          const answer = await watchdog.watch(state, () => handler(input));
          await after[state]?.(input, answer as Answer);
          return answer;
        },
      ]),
    );
  }

  private async sweep(): Promise<void> {
    try {
      await collect(this.engine, { checkpoints: this.options.retain ?? 3, history: retainedHistory });
    } catch (error) {
      const described = describeError(error);
      this.options.onMessage?.({ level: "warning", text: "old objects could not be collected", error: described });
      this.loaded.watch?.({ type: "collect-failed", error: described });
    }
  }

  /** How the run ended, as HEAD has it; `otherwise` if it just went idle. */
  async result(otherwise: "done" | "nothing-new"): Promise<RunResult> {
    const { engine, tracker, watchdog, loaded, options } = this;
    const head = await engine.ledger.head();
    const error = head?.status === "stopped" ? head.error : watchdog.error;
    const outcome =
      head?.status === "stopped"
        ? "stopped"
        : options.signal?.aborted && head?.status === "running"
          ? "interrupted"
          : watchdog.error
            ? "failed"
            : head?.status === "paused"
              ? "paused"
              : otherwise;
    const { late, skipped, deadLettered, ...progress } = tracker.progress;
    const { lost } = tracker;
    return {
      outcome,
      ...(error && { error: this.place(error) }),
      progress,
      late,
      skipped,
      deadLettered,
      ...(lost.epochs > 0 && { lost }),
      closedUntil: await this.closedUntil(progress.decided),
      state: loaded.state,
      outputs: outputsOf(engine.topology),
      topics: topicsOf(engine.topology),
    };
  }

  private async closedUntil(epoch: number): Promise<number | null> {
    const row = await this.engine.ledger.epoch(epoch);
    return row?.status === "decided" ? row.plan.advanceTo : null;
  }

  private place(error: ErrorDescription): ErrorDescription {
    return { ...error, place: { pipeline: this.engine.topology.name, ...error.place } };
  }
}
