import type { Ack, DecidedEpoch, EpochRow } from "../../epoch/epoch.ts";
import { tasksOf } from "../../epoch/epoch.ts";
import type { Topology } from "../../pipeline/topology.ts";
import type { SinkContext } from "../../ports/sink.ts";
import { partitionOf } from "./lane-sink.ts";
import type { Output } from "./reference.ts";

/** Rows that an invocation has made visible without a second phase: a file, or what it has for one partition of a topic. */
export interface Publication {
  readonly context: SinkContext;
  /** "" of a folder. */
  readonly partition: string;
  readonly rows: readonly string[];
}

interface Place {
  readonly topology: Topology;
  /** By epoch. */
  readonly expected: ReadonlyMap<number, Output>;
  violated(invariant: string, message: string): void;
  /** For the report. */
  reached(state: string): void;
}

/**
 * The oracle of the weaker guarantees. At-least-once: what a decided attempt has written was all visible before its decision, epoch after epoch, and is what its plan
 * gives; anything else is a repetition. At-most-once: nothing is visible but what was claimed, each claim is decided and shows once, and what is missing of it is counted.
 */
export class Publications {
  readonly all: Publication[] = [];
  readonly #place: Place;
  /** Nonces of all acks, with the acks. */
  readonly #acked = new Map<string, Ack>();
  readonly #decided = new Map<number, { readonly row: DecidedEpoch; readonly acks: readonly Ack[] }>();

  constructor(place: Place) {
    this.#place = place;
  }

  get #guarantee() {
    return this.#place.topology.guarantee;
  }

  add(context: SinkContext, partition: string, rows: readonly string[]): void {
    const { nonce, sink, stage } = context;
    const isKnown = this.all.some(
      (one) =>
        one.partition === partition &&
        one.context.nonce === nonce &&
        one.context.sink === sink &&
        one.context.stage === stage,
    );
    this.#must(!isKnown, `${nameOf(context)} shows its rows of ${sink} twice`);
    if (this.#guarantee === "at-most-once")
      this.#must(this.#acked.has(nonce), `${nameOf(context)} shows rows of ${sink}, and has not claimed them`);
    this.all.push({ context, partition, rows });
  }

  acked(ack: Ack): void {
    this.#acked.set(ack.nonce, ack);
  }

  /** An attempt begins. */
  planned({ epoch, attempt, plan }: EpochRow, before: EpochRow | undefined): void {
    const { guarantee, stages, nodes } = this.#place.topology;
    if (guarantee === "exactly-once") return;
    const isShared = plan.partitions.some(({ cuts }) => cuts.length > 0);
    const writes = stages[0]!.sinks.some((sink) => nodes.some(({ id }) => id === sink));
    this.#must(!isShared || !writes, `a partition of epoch ${epoch} is shared by tasks, whose rows are in no order`);
    if (guarantee !== "at-most-once" || !before) return;
    const isClaimed = this.all.some(({ context }) => context.epoch === epoch && context.attempt < attempt);
    this.#must(!isClaimed, `epoch ${epoch} is tried again, and rows of an attempt before are visible`);
  }

  decided(row: DecidedEpoch, acks: readonly Ack[]): void {
    const { epoch, decision } = row;
    if (this.#guarantee === "exactly-once" || decision.kind === "restore") return;
    this.#decided.set(epoch, { row, acks });
    if (this.#guarantee === "at-least-once") {
      for (const [ack, sink, count] of countsOf(acks))
        this.#must(this.#shown(ack, sink) === count, `epoch ${epoch} is decided, and rows of ${sink} are not visible`);
      return;
    }
    const isAcked = (task: { stage: number; task: number }) =>
      acks.some((ack) => ack.stage === task.stage && ack.task === task.task);
    if (decision.loss) this.#place.reached(decision.loss.shares.length > 0 ? "loss: of tasks" : "loss: of rows");
    const shares = tasksOf(row).filter((task) => !isAcked(task)).length;
    this.#must(
      (decision.loss?.shares.length ?? 0) === shares,
      `epoch ${epoch} has lost ${shares} tasks, and counts others`,
    );
    for (const [ack, sink, count] of countsOf(acks))
      if (ack.published?.includes(sink))
        this.#must(this.#shown(ack, sink) === count, `rows of ${sink} in epoch ${epoch} are confirmed, and not there`);
  }

  /** Nothing happens any more. */
  finish(): void {
    if (this.#guarantee === "exactly-once") return;
    for (const decided of this.#decided.values()) this.#finishEpoch(decided);
    if (this.#guarantee === "at-least-once") this.#mustBeInOrder();
    else this.#mustBeDecided();
  }

  #mustBeDecided(): void {
    for (const { context } of this.all) {
      const decided = this.#decided.get(context.epoch);
      this.#must(
        decided === undefined || decided.row.attempt === context.attempt,
        `${nameOf(context)} shows rows, and was not decided`,
      );
    }
  }

  #finishEpoch({ row, acks }: { row: DecidedEpoch; acks: readonly Ack[] }): void {
    const { epoch, decision } = row;
    const missing = new Map<string, number>();
    for (const [ack, sink, count] of countsOf(acks))
      missing.set(sink, (missing.get(sink) ?? 0) + count - this.#shown(ack, sink));
    const output = this.#place.expected.get(epoch)!;
    for (const sink of Object.keys(this.#place.topology.sinks)) {
      const lacking = missing.get(sink) ?? 0;
      const counted = decision.loss?.rows[sink] ?? 0;
      this.#must(
        lacking <= counted,
        `${lacking} rows of ${sink} in epoch ${epoch} are missing, and ${counted} count as lost`,
      );
      this.#compare(`epoch ${epoch} of ${sink}`, this.#rowsOf(acks, sink), output.get(sink) ?? [], lacking);
    }
  }

  /** What the invocations that count have shown of a sink, by partition, each in the order of stages and tasks. */
  #rowsOf(acks: readonly Ack[], sink: string): ReadonlyMap<string, string[]> {
    const nonces = new Set(acks.map(({ nonce }) => nonce));
    const shown = this.all.filter(({ context }) => context.sink === sink && nonces.has(context.nonce));
    const sorted = shown.sort(
      ({ context: one }, { context: other }) => one.stage - other.stage || one.task - other.task,
    );
    return new Map(
      [...Map.groupBy(sorted, ({ partition }) => partition)].map(([partition, all]) => [
        partition,
        all.flatMap(({ rows }) => rows),
      ]),
    );
  }

  /** @param lacking so many rows of it, of whole tasks and partitions */
  #compare(what: string, shown: ReadonlyMap<string, string[]>, expected: readonly string[], lacking: number): void {
    const total = [...shown.values()].reduce((sum, rows) => sum + rows.length, 0);
    this.#must(
      total + lacking === expected.length,
      `${what} shows ${total} rows, lacks ${lacking}, and has ${expected.length}`,
      "I6",
    );
    for (const [partition, rows] of shown) {
      const here = expected.filter((row) => partition === "" || partition.endsWith(`-${partitionOf(JSON.parse(row))}`));
      let at = 0;
      for (const row of here) if (row === rows[at]) at++;
      this.#must(at === rows.length, `${what} shows ${rows[at]}, which its plan does not give there`, "I6");
    }
  }

  /** Of each partition: what counts of an epoch comes before what counts of the next. */
  #mustBeInOrder(): void {
    const last = new Map<string, number>();
    for (const { context, partition } of this.all) {
      const { epoch, nonce, sink } = context;
      const counts = this.#decided.get(epoch)?.acks.some((ack) => ack.nonce === nonce);
      if (!counts) continue;
      const before = last.get(`${sink} ${partition}`) ?? 0;
      this.#must(epoch >= before, `${partition || sink} shows epoch ${epoch} after ${before}`);
      last.set(`${sink} ${partition}`, epoch);
    }
  }

  #shown({ nonce }: Ack, sink: string): number {
    const shown = this.all.filter(({ context }) => context.nonce === nonce && context.sink === sink);
    return shown.reduce((sum, { rows }) => sum + rows.length, 0);
  }

  #must(holds: boolean, message: string, invariant: string = this.#guarantee): void {
    if (!holds) this.#place.violated(invariant, message);
  }
}

const nameOf = ({ epoch, attempt, stage, task, nonce }: SinkContext): string =>
  `${epoch}.${attempt}.${stage}.${task} (${nonce})`;

function countsOf(acks: readonly Ack[]): [ack: Ack, sink: string, count: number][] {
  return acks.flatMap((ack) =>
    Object.entries(ack.counts.rows).map(([sink, count]): [Ack, string, number] => [ack, sink, count]),
  );
}
