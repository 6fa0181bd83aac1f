import { isDeepStrictEqual } from "node:util";
import { MemoryObjectStore } from "../../adapters/memory/object-store.ts";
import { canonicalJson } from "../../epoch/digest.ts";
import type { Engine } from "../../epoch/engine.ts";
import type { Ack, Checkpoint, DecidedEpoch, EpochRow } from "../../epoch/epoch.ts";
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
  #ack: Ack | undefined;
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
    await this.#run(row);
    const ack = this.#ack;
    if (!ack) return `epoch ${epoch} was decided, but its evaluation fails: ${this.#failure?.message}`;
    this.#remember(row, { stages: ack.chains });
    this.outputs.set(epoch, this.#output);
    return differenceOf(this.#engine.topology, row, ack);
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

  async #run(row: DecidedEpoch, engine = this.#engine): Promise<void> {
    const stages = this.#engine.topology.stages.length;
    const attemptPlan = { codeDigest: "reference", tasks: Array(stages).fill(1), fused: stages > 1 };
    const { epoch, attempt, plan, plannedAt } = row;
    const base = { epoch, attempt, plan, attemptPlan, plannedAt };
    this.#row = { ...base, failures: 0, failure: null, status: "planned" };
    this.#ack = undefined;
    this.#output = new Map();
    await operate(engine, { epoch, attempt, stage: 0, task: 0 });
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
      acks: async () => [],
      ack: async (_: unknown, ack: Ack) => {
        this.#ack = ack;
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
