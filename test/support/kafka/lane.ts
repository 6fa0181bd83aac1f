import type { KafkaClient } from "../../../shared/adapters/kafka/client.ts";
import { createKafkaSink } from "../../../shared/adapters/kafka/sink/sink.ts";
import { systemRandom } from "../../../shared/adapters/system/random.ts";
import type { Json } from "../../../shared/json.ts";
import type { KafkaSinkSettings } from "../../../shared/pipeline/connectors/kafka.ts";
import type { Clock } from "../../../shared/ports/clock.ts";
import type { ObjectStore } from "../../../shared/ports/object-store.ts";
import type { CommitLedger, PreparedTask } from "../../../shared/ports/sink.ts";
import { type Row, settingsOf } from "./sink-settings.ts";

export const owner = { pipeline: "lanes", uid: "uid1", sink: "out" };
export const group = "epochflow.lanes.uid1.out.0";

/** What the ledger has of an epoch. */
export interface LaneRow {
  readonly status: "prepared" | "committed" | "abandoned";
  readonly unit: Json;
  readonly decidedAt: number | undefined;
}

export interface LaneLedger {
  rows(): ReadonlyMap<number, LaneRow>;
  write(epoch: number, row: LaneRow | undefined): void;
  committed(): number;
  setCommitted(epoch: number): void;
}

/** A port's calls, each of which may fail or hang. */
export type Around = (call: string, run: () => Promise<unknown>) => Promise<unknown>;

export interface LaneParts {
  client(around: Around): KafkaClient;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly ledger: LaneLedger;
  readonly settings: Partial<KafkaSinkSettings<Row>>;
  readonly transactionTimeoutMs?: number;
}

/** One lane of one sink: what is staged and decided for it, and processes that commit it. */
export class Lane {
  readonly ledger: LaneLedger;
  readonly #parts: LaneParts;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.ledger = parts.ledger;
  }

  /** A process of its own. Calls of all that it asks go through `around`. */
  process(around: Around = (_, run) => run()) {
    const sink = this.#sink(around);
    const within = (epoch: number) => {
      const unit = this.ledger.rows().get(epoch)!.unit as never;
      return { ...owner, epoch, key: "lane-0", unit, ledger: this.#commitLedger(around) };
    };
    return {
      commit: (epoch: number) => sink.commit(within(epoch)),
      abandon: (epoch: number) => sink.abandon!(within(epoch)),
    };
  }

  /** Some tasks' rows for an epoch are staged, and decided. */
  async decide(epoch: number, tasks: readonly (readonly Row[])[] = rowsOf(epoch)): Promise<void> {
    const sink = this.#sink();
    const prepared: PreparedTask<never>[] = [];
    for (const [task, rows] of tasks.entries()) {
      const transaction = await sink.begin({ ...owner, epoch, attempt: 1, stage: 0, task, nonce: "n" });
      transaction.write(rows);
      const handle = await sink.preCommit(transaction);
      if (handle !== undefined) prepared.push({ stage: 0, task, handle: handle as never });
    }
    const previous = Math.max(0, ...this.ledger.rows().keys()) || null;
    const decision = { epoch, token: `token-${epoch}`, previous: () => previous };
    const [decided] = sink.units!(prepared, decision);
    // The ledger keeps it as JSON.
    const unit = JSON.parse(JSON.stringify(decided!.unit));
    this.ledger.write(epoch, { status: "prepared", unit, decidedAt: this.#parts.clock.now() });
  }

  change(epoch: number, change: Partial<LaneRow>): void {
    this.ledger.write(epoch, { ...this.ledger.rows().get(epoch)!, ...change });
  }

  /** The ledger hears of a commit, or of what the user gave up. */
  settle(epoch: number, status: LaneRow["status"] = "committed"): void {
    this.change(epoch, { status });
    this.ledger.setCommitted(epoch);
  }

  #sink(around: Around = (_, run) => run()) {
    const { settings, client, objects, clock, transactionTimeoutMs } = this.#parts;
    const watched: ObjectStore = {
      put: (...given) => objects.put(...given),
      get: (...given) => around("get", () => objects.get(...given)) as Promise<Uint8Array | undefined>,
      list: (prefix) => objects.list(prefix),
      delete: (keys) => objects.delete(keys),
    };
    const ports = { clock, random: systemRandom, ...(transactionTimeoutMs && { transactionTimeoutMs }) };
    return createKafkaSink(settingsOf(settings), client(around), watched, ports);
  }

  #commitLedger(around: Around): CommitLedger {
    const ask = <T>(call: string, answer: () => T) => around(`ledger.${call}`, async () => answer()) as Promise<T>;
    return {
      unit: (epoch) => ask("unit", () => this.ledger.rows().get(epoch)),
      decidedAt: (epoch) => ask("decidedAt", () => this.ledger.rows().get(epoch)?.decidedAt),
      committed: () => ask("committed", () => this.ledger.committed()),
      recover: (epoch) => ask("recover", () => this.change(epoch, { status: "committed" })),
    };
  }
}

/** Of two tasks, for both of two partitions. */
export const rowsOf = (epoch: number): Row[][] => [
  [{ n: epoch * 100 }, { n: epoch * 100 + 1 }],
  [{ n: epoch * 100 + 2 }, { n: epoch * 100 + 3 }],
];

/** Numbers of the rows that readers see, by partition, when these epochs are there, each once. */
export const once = (...epochs: number[]): number[][] => [
  epochs.flatMap((epoch) => [epoch * 100, epoch * 100 + 2]),
  epochs.flatMap((epoch) => [epoch * 100 + 1, epoch * 100 + 3]),
];
