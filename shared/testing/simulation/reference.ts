import { isDeepStrictEqual } from "node:util";
import { MemoryObjectStore } from "../../adapters/memory/object-store.ts";
import { addCounts } from "../../epoch/decide.ts";
import { canonicalJson } from "../../epoch/digest.ts";
import type { Engine } from "../../epoch/engine.ts";
import {
  type Ack,
  type AttemptPlan,
  type ChainRun,
  type Checkpoint,
  type DecidedEpoch,
  type EpochRow,
  tasksOf,
} from "../../epoch/epoch.ts";
import { operate } from "../../epoch/operate.ts";
import { watermarkAfter } from "../../epoch/watermark.ts";
import type { ErrorDescription } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { Topology } from "../../pipeline/topology.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Source } from "../../ports/source.ts";
import { StateStore } from "../../state/state-store.ts";
import { Observations } from "./determinism.ts";

/** Rows as JSON text, by sink. */
export type Output = ReadonlyMap<string, readonly string[]>;

/**
 * What a decided epoch should be: evaluated from its plan in one task, with a memory of its own, where nothing ever fails. That the pipeline's own
 * evaluation, in whatever tasks and attempts, gave the same is I6.
 */
export class Reference {
  /** By epoch. */
  readonly outputs = new Map<number, Output>();
  readonly #engine: Engine;
  readonly #checkpoints = new Map<number, Checkpoint>([[0, { stages: {} }]]);
  /** The same, by the checkpoint that the pipeline decided, for restores. */
  readonly #counterparts = new Map<string, Checkpoint>([[canonicalJson({ stages: {} }), { stages: {} }]]);
  #row: EpochRow | undefined;
  #acks: Ack[] = [];
  #failure: ErrorDescription | undefined;
  #output = new Map<string, string[]>();

  constructor(topology: Topology, source: Source) {
    const objects = new MemoryObjectStore();
    let nonces = 0;
    this.#engine = {
      topology,
      fingerprint: "",
      codeDigest: "reference",
      uid: "reference",
      ledger: this.#ledger(),
      objects,
      source,
      sink: (id) => this.#sink(id),
      state: new StateStore(objects),
      executions: undefined as never,
      clock: { now: () => 0, sleep: async () => {} },
      random: { nonce: () => `reference${nonces++}` },
      policy: undefined as never,
    };
  }

  /** Evaluates a decided epoch; epochs come in order. Returns what is different from what was decided. */
  async evaluate(row: DecidedEpoch): Promise<string | undefined> {
    const { decision, epoch } = row;
    if (decision.kind === "restore") {
      this.#remember(row, this.#counterparts.get(canonicalJson(decision.checkpoint)));
      this.outputs.set(epoch, new Map());
      return undefined;
    }
    if (decision.loss?.shares.length) return await this.#evaluateClaims(row);
    await this.#run(row);
    const ack = this.#acks[0];
    if (!ack) return `epoch ${epoch} was decided, but its evaluation fails: ${this.#failure?.message}`;
    this.#remember(row, { stages: ack.chains });
    this.outputs.set(epoch, this.#output);
    return differenceOf(this.#engine.topology, row, ack);
  }

  /** The tasks of an attempt that was cut short, one by one, as far as they had got (at-most-once). */
  async #evaluateClaims(row: DecidedEpoch): Promise<string | undefined> {
    const { epoch, attemptPlan, decision } = row;
    const { shares } = decision.loss!;
    const tasks = tasksOf(row).filter(
      ({ stage, task }) => !shares.some((share) => share.stage === stage && share.task === task),
    );
    await this.#run(
      row,
      this.#engine,
      { tasks: attemptPlan.tasks, fused: attemptPlan.fused, codeDigest: "reference" },
      tasks,
    );
    if (this.#acks.length < tasks.length)
      return `epoch ${epoch} has claims, but their evaluation fails: ${this.#failure?.message}`;
    this.#remember(row, this.#checkpointOfClaims(this.#checkpoints.get(epoch - 1)!));
    this.outputs.set(epoch, this.#output);
    const counts = addCounts(this.#acks.map((ack) => ack.counts));
    const isSame = isDeepStrictEqual(withoutZeros(counts), withoutZeros(decision.counts));
    return isSame ? undefined : `the counts of epoch ${epoch}, which was cut short, are not those of its claims`;
  }

  /** By key group, in a way of its own: the new chain where a task has one, else the old. */
  #checkpointOfClaims(before: Checkpoint): Checkpoint {
    const stages: Record<string, ChainRun[]> = {};
    for (const { index } of this.#engine.topology.stages.slice(1)) {
      const runs = [...this.#acks.flatMap(({ chains }) => chains[index] ?? []), ...(before.stages[index] ?? [])];
      stages[index] = Array.from({ length: this.#engine.topology.keyGroups }, (_, group) => {
        const { objects = [] } = runs.find(({ from, to }) => from <= group && group < to) ?? {};
        return { from: group, to: group + 1, objects };
      });
    }
    return { stages };
  }

  /** Evaluates an epoch again, twice: which operator gives something else the second time? Undefined if none does. */
  async nondeterministicOperator(row: DecidedEpoch): Promise<string | undefined> {
    const observed = [];
    for (let run = 0; run < 2; run++) {
      const observations = new Observations();
      const engine = { ...this.#engine, topology: observations.watch(this.#engine.topology) };
      await this.#run(row, { ...engine, state: new StateStore(engine.objects) });
      observed.push(observations);
    }
    return observed[0]!.firstDifference(observed[1]!);
  }

  async #run(
    row: DecidedEpoch,
    engine = this.#engine,
    attemptPlan: AttemptPlan = this.#inOneTask,
    tasks: readonly { readonly stage: number; readonly task: number }[] = [{ stage: 0, task: 0 }],
  ): Promise<void> {
    const { epoch, attempt, plan, plannedAt } = row;
    const base = { epoch, attempt, plan, attemptPlan, plannedAt };
    this.#row = { ...base, failures: 0, failure: null, status: "planned" };
    this.#acks = [];
    this.#output = new Map();
    for (const task of tasks) await operate(engine, { epoch, attempt, ...task });
  }

  get #inOneTask(): AttemptPlan {
    const stages = this.#engine.topology.stages.length;
    return { codeDigest: "reference", tasks: Array(stages).fill(1), fused: stages > 1 };
  }

  #remember({ epoch, decision }: DecidedEpoch, checkpoint: Checkpoint | undefined): void {
    if (!checkpoint) throw new Error(`epoch ${epoch} restores a checkpoint that was never decided`);
    this.#checkpoints.set(epoch, checkpoint);
    this.#counterparts.set(canonicalJson(decision.checkpoint), checkpoint);
  }

  /** As much of a ledger as a task asks. */
  #ledger(): Ledger {
    const before = (epoch: number) => ({ status: "decided", decision: { checkpoint: this.#checkpoints.get(epoch) } });
    return {
      epoch: async (epoch: number) => (epoch === this.#row!.epoch ? this.#row : before(epoch)),
      acks: async () => this.#acks,
      ack: async (_: unknown, ack: Ack) => {
        this.#acks.push(ack);
        return { outcome: "acknowledged", ack };
      },
      fail: async (_: unknown, { error }: { error: ErrorDescription }) => {
        this.#failure = error;
      },
    } as unknown as Ledger;
  }

  #sink(id: string): TwoPhaseCommitSink {
    const output = this.#output;
    const write = (rows: readonly unknown[]) =>
      output.set(id, [...(output.get(id) ?? []), ...rows.map((row) => JSON.stringify(row))]);
    return {
      begin: async () => ({ write, drained: async () => {} }) as Transaction,
      preCommit: async () => undefined,
    } as unknown as TwoPhaseCommitSink;
  }
}

/** What the evaluation gives and the decision has not, or the other way round. */
function differenceOf(topology: Topology, { epoch, plan, decision }: DecidedEpoch, ack: Ack): string | undefined {
  const node = topology.nodes[0];
  const times = new Map(Object.entries(ack.maxEventTimes));
  const outOfOrderMs = node?.kind === "source" ? node.source.outOfOrderMs : 0;
  const expected: Record<string, unknown> = {
    watermark: watermarkAfter(plan, times, outOfOrderMs),
    nextFire: ack.nextFire,
    openUntil: ack.openUntil,
    counts: withoutZeros(ack.counts),
  };
  const { watermark, nextFire, openUntil, counts } = decision;
  const actual: Record<string, unknown> = { watermark, nextFire, openUntil, counts: withoutZeros(counts) };
  const name = Object.keys(expected).find((key) => !isDeepStrictEqual(expected[key], actual[key]));
  if (name === undefined) return undefined;
  const [should, is] = [expected[name], actual[name]].map((value) => JSON.stringify(value));
  return `${name} of epoch ${epoch} was decided as ${is}, and its plan gives ${should}`;
}

/** A task that wrote nothing to a sink may leave it out. */
function withoutZeros({ rows, ...counts }: Ack["counts"]): Json {
  return { ...counts, rows: Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0)) };
}
