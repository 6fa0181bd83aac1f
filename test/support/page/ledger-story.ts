import { mkdirSync } from "node:fs";
import { openLedger } from "../../../local/compose.ts";
import type { Ack, Counts, Decision, EpochPlan } from "../../../shared/epoch/epoch.ts";
import type { ErrorDescription } from "../../../shared/errors.ts";
import type { Ledger } from "../../../shared/ports/ledger.ts";

export interface Story {
  readonly pipeline?: string;
  readonly epochs: number;
  readonly partitions?: readonly string[];
  readonly tasks?: number;
  readonly sinks?: readonly string[];
  /** What offsets count. */
  readonly source?: "kafka" | "files";
  /** When the last epoch ends, epoch milliseconds. */
  readonly until: number;
  /** Milliseconds from one epoch to the next. */
  readonly epochMs?: number;
  /** Epochs whose first attempt fails. */
  readonly failing?: readonly number[];
  readonly error?: ErrorDescription;
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A repeatable sequence of fractions: figures that vary as real ones do. */
const noise = (index: number) => (Math.sin(index * 12.9898) * 43758.5453) % 1;
const vary = (index: number, share = 0.5) => 1 + share * noise(index);

export const brokenError: ErrorDescription = {
  kind: "user",
  code: "function-failed",
  message: 'Operator "map-1" of pipeline "orders" failed on the record at offset 41,207 of "orders/3": no price',
  wayOut: 'Mend the function, or set `onError` to "skip" or to a dead-letter sink.',
  place: { operator: "map-1", partition: "orders/3", offset: 41_207 },
};

/** Writes the ledger of a pipeline that has worked for a while, by the verbs that a run uses, with times as told. */
export class LedgerStory {
  readonly ledger: Ledger;
  readonly #story: Required<Story>;

  constructor(state: string, story: Story) {
    mkdirSync(state, { recursive: true });
    this.ledger = openLedger(state);
    this.#story = {
      ...{
        pipeline: "orders",
        partitions: ["orders/0", "orders/1", "orders/2", "orders/3"],
        tasks: 4,
        source: "kafka",
      },
      ...{ sinks: ["revenue", "late"], epochMs: 1000, failing: [], error: brokenError },
      ...story,
    };
  }

  async write(): Promise<void> {
    const { epochs } = this.#story;
    await this.open();
    for (let epoch = 1; epoch <= epochs; epoch++) {
      await this.decide(epoch);
      await this.commit(epoch);
    }
  }

  async open(): Promise<void> {
    const { pipeline, sinks, source } = this.#story;
    const kinds = Object.fromEntries(sinks.map((sink) => [sink, source]));
    const window = { kind: "tumbling", sizeMs: 60_000, everyMs: 60_000 };
    const operators = { "window-1": { kind: "window", stage: 1, window, allowedLatenessMs: 0, aggregates: [] } };
    const fingerprint = { format: 1, keyGroups: 128, sources: { "source-1": source }, operators, sinks: kinds };
    await this.ledger.open({ pipeline, uid: "u".padEnd(20, "7x"), fingerprint: JSON.stringify(fingerprint) });
    await this.ledger.grant({ owner: null, run: 0 });
  }

  /** When an epoch is planned. */
  at(epoch: number): number {
    const { until, epochs, epochMs } = this.#story;
    return Math.round(until - (epochs - epoch + 1) * epochMs);
  }

  async plan(epoch: number, seen: number | null = null): Promise<number> {
    const { tasks } = this.#story;
    const attemptPlan = { codeDigest: "code", tasks: [tasks, tasks], fused: false };
    const write = { epoch, seen, owner: 1, plan: this.#plan(epoch), attemptPlan, events: 0 };
    const planned = await this.ledger.plan({ ...write, now: this.at(epoch) + (seen === null ? 0 : 150) });
    if (planned.outcome !== "planned") throw new Error(planned.outcome);
    return planned.attempt;
  }

  async fail(epoch: number, attempt: number): Promise<void> {
    await this.ledger.fence({ epoch, attempt }, { error: this.#story.error, shrink: false });
  }

  async decide(epoch: number): Promise<void> {
    const { failing, epochMs, sinks } = this.#story;
    let attempt = await this.plan(epoch);
    if (failing.includes(epoch)) {
      await this.fail(epoch, attempt);
      attempt = await this.plan(epoch, attempt);
    }
    const acks = this.#acks(epoch);
    for (const ack of acks) await this.ledger.ack({ epoch, attempt }, ack);
    const units = sinks.map((sink) => ({ sink, key: "1-0", unit: { file: `${sink}-${epoch}` } }));
    const decision: Decision = {
      kind: "process",
      checkpoint: { stages: { "1": [{ from: 0, to: 128, objects: [`snapshot-${epoch}`] }] } },
      partitions: this.#plan(epoch).partitions.map(({ id, identity, to }, index) => ({
        ...{ id, identity, position: to, activeAt: this.at(epoch) },
        maxEventTime: this.at(epoch) - 800 * (index % 5),
      })),
      watermark: this.at(epoch) - 5000,
      nextFire: null,
      openUntil: null,
      counts: this.#counts(epoch),
      token: `token-${epoch}`,
      unitCount: units.length,
      sinks: [...sinks],
      previous: Object.fromEntries(units.map(({ sink, key }) => [`${sink}/${key}`, epoch])),
      decidedAt: Math.round(this.at(epoch) + epochMs * (0.72 + 0.1 * noise(epoch))),
    };
    const outcome = await this.ledger.decide({ epoch, attempt }, { decision, units, ackCount: acks.length });
    if (outcome !== "decided") throw new Error(outcome);
  }

  async commit(epoch: number): Promise<void> {
    for (const { sink, key } of await this.ledger.units(epoch)) await this.ledger.commitUnit(epoch, sink, key);
    await this.ledger.commit(
      epoch,
      Math.round(this.at(epoch) + this.#story.epochMs * (1.05 + 0.15 * noise(epoch + 7))),
    );
  }

  #plan(epoch: number): EpochPlan {
    const { partitions } = this.#story;
    return {
      partitions: partitions.map((id, index) => {
        const to = (n: number) => Math.round(n * 1000 * (1 + (index % 7) / 5));
        const behind = Math.max(0, Math.round(9000 * noise(index + 3) + 2000 * noise(epoch / 9 + index)));
        return {
          ...{ id, identity: "topic", from: to(epoch - 1), to: to(epoch), cuts: [], idle: index % 9 === 8 },
          ...{
            seen: { end: to(epoch) + behind, high: to(epoch) + behind },
            maxEventTime: this.at(epoch - 1),
            activeAt: 0,
          },
        };
      }),
      watermark: this.at(epoch - 1) - 5000,
      bytes: 1_000_000,
      advanceTo: null,
      processingTime: this.at(epoch),
    };
  }

  #counts(epoch: number): Counts {
    const records = Math.round(4000 * vary(epoch) * this.#story.partitions.length);
    const rows = this.#story.sinks.map((sink, index) => [sink, Math.round((index === 0 ? 240 : 3) * vary(epoch + 5))]);
    const late = epoch % 4 === 0 ? 3 : 0;
    return { records, bytes: records * 140, skipped: 0, deadLettered: 0, late, rows: Object.fromEntries(rows) };
  }

  #acks(epoch: number): Ack[] {
    const { tasks, epochMs } = this.#story;
    const counts = this.#counts(epoch);
    const none = { records: 0, bytes: 0, skipped: 0, deadLettered: 0, late: 0, rows: {} };
    const ack = (stage: number, task: number): Ack => {
      const startedAt = Math.round(this.at(epoch) + epochMs * (0.04 + 0.42 * stage));
      const share = { ...none, records: Math.round(counts.records / tasks) };
      return {
        ...{ stage, task, nonce: `n-${epoch}-${stage}-${task}`, chains: {}, shuffle: null, prepared: [] },
        ...{ counts: stage === 0 ? share : none, maxEventTimes: {}, nextFire: null, openUntil: null },
        ...{ stateBytes: stage === 0 ? 0 : Math.round(700_000 * (1 + epoch / 400) * vary(epoch, 0.02)), startedAt },
        endedAt: Math.round(startedAt + epochMs * 0.3 * vary(epoch * 7 + task, 0.3)),
      };
    };
    return [0, 1].flatMap((stage) => range(tasks).map((task) => ack(stage, task)));
  }
}
