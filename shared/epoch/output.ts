import type { Json } from "../json.ts";
import { counting, countingForm } from "../operators/counts.ts";
import type { StageEnvironment } from "../operators/environment.ts";
import type { TextRows } from "../ports/columns.ts";
import type { Transaction } from "../ports/sink.ts";
import type { Engine } from "./engine.ts";
import type { EpochPlan, WeakerGuarantee } from "./epoch.ts";
import type { InvocationName } from "./names.ts";
import { publish } from "./publish.ts";

interface Open {
  readonly stage: number;
  readonly sink: string;
  readonly transaction: Transaction;
}

/**
 * What one invocation writes to sinks: a transaction for each stage and sink. By stage too, since a fused task plays several: so its output is cut
 * and ordered as that of unfused ones (I6).
 */
export class TaskOutput {
  readonly rows: Record<string, number> = {};
  private readonly open: Open[] = [];
  private readonly engine: Engine;
  private readonly invocation: InvocationName;
  private readonly direct: { readonly direct?: true };

  constructor(engine: Engine, invocation: InvocationName, guarantee: WeakerGuarantee | undefined) {
    this.engine = engine;
    this.invocation = invocation;
    this.direct = guarantee ? { direct: true } : {};
  }

  /** The world of one stage's operators, with the stage's sinks begun. */
  async stage(stage: number, plan: EpochPlan): Promise<StageEnvironment> {
    const { topology, running } = this.engine;
    const transactions = new Map<string, Transaction>();
    for (const sink of topology.stages[stage]?.sinks ?? []) {
      const context = { ...this.invocation, stage, sink, ...this.direct, processingTime: plan.processingTime };
      const transaction = await this.engine.sink(sink).begin(context);
      transactions.set(sink, transaction);
      this.open.push({ stage, sink, transaction });
    }
    return {
      topology,
      watermark: plan.watermark,
      processingTime: plan.processingTime,
      write: counting(this.rows, (sink, rows, timeOf, refused) => transactions.get(sink)?.write(rows, refused, timeOf)),
      writeColumns: countingForm(this.rows, (sink, columns, refused) => {
        const transaction = transactions.get(sink);
        if (transaction?.writeColumns) transaction.writeColumns(columns, refused);
        else transaction?.write(columns.rows(), refused, (row) => columns.times[row]!);
      }),
      writeTexts: countingForm(this.rows, (sink, texts: TextRows, refused) => {
        const transaction = transactions.get(sink);
        if (transaction?.writeTexts) transaction.writeTexts(texts, refused);
        else transaction?.write(texts.rows(), refused, (row) => texts.times[row]!);
      }),
      ...(running && { running }),
    };
  }

  async drained(): Promise<void> {
    for (const { transaction } of this.open) await transaction.drained();
  }

  /** All output durable; handles of what was written, in the order of stages and sinks. */
  async preCommit(): Promise<{ stage: number; sink: string; handle: Json }[]> {
    const prepared = [];
    for (const { stage, sink, transaction } of this.open) {
      const handle = await this.engine.sink(sink).preCommit(transaction);
      if (handle !== undefined) prepared.push({ stage, sink, handle });
    }
    return prepared;
  }

  /**
   * Makes all rows visible, without a second phase.
   *
   * @param failed what to do about a sink that fails; the others are written all the same
   * @returns sinks to which all rows have come through
   */
  async publish(failed: (error: unknown) => Promise<void>): Promise<string[]> {
    const missing = new Set<string>();
    const written = this.open.filter(({ sink }) => Object.hasOwn(this.rows, sink) && this.rows[sink]! > 0);
    for (const { stage, sink, transaction } of written)
      try {
        await publish(this.engine.sink(sink), transaction, { ...this.invocation, stage, sink });
      } catch (error) {
        missing.add(sink);
        await failed(error);
      }
    return [...new Set(written.map(({ sink }) => sink))].filter((sink) => !missing.has(sink));
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.open.map(({ transaction }) => transaction.discard?.()));
  }
}
