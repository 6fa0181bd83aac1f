import { digest } from "../../epoch/digest.ts";
import { objectKey } from "../../epoch/names.ts";
import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type {
  CommitUnit,
  PreparedTask,
  SinkContext,
  Transaction,
  TwoPhaseCommitSink,
  UnitDecision,
} from "../../ports/sink.ts";
import type { Broker } from "./broker.ts";
import type { Call } from "./log.ts";

export const targetPartitions = 3;
const lanes = 2;

interface Staged {
  readonly partition: number;
  readonly object: string;
}
type Prepared = { readonly staged: readonly (Staged & Json)[] };
export type LaneUnit = {
  readonly token: string;
  readonly previous: number | null;
  readonly batches: readonly (Staged & Json)[];
};

class Rows implements Transaction {
  readonly context: SinkContext;
  readonly byPartition = new Map<number, string[]>();

  constructor(context: SinkContext) {
    this.context = context;
  }

  write(rows: readonly unknown[]): void {
    for (const row of rows) {
      const text = JSON.stringify(row);
      const partition = partitionOf(row);
      this.byPartition.set(partition, [...(this.byPartition.get(partition) ?? []), text]);
    }
  }

  async drained(): Promise<void> {}
}

/** By the row's key, where it has one: rows of a key stay in order. */
export function partitionOf(row: unknown): number {
  const key = row !== null && typeof row === "object" && "key" in row ? row.key : row;
  return Number.parseInt(digest((key ?? null) as Json).slice(0, 6), 16) % targetPartitions;
}

/**
 * The Kafka sink of DESIGN §9: staged in the object store at pre-commit; committed by one transaction a lane and epoch, under a marker that tells which
 * epoch a lane has got.
 */
export class LaneSink implements TwoPhaseCommitSink<unknown, Prepared, LaneUnit> {
  readonly #broker: Broker;
  readonly #objects: ObjectStore;
  readonly #ledger: Ledger;
  readonly #call: Call;

  constructor(broker: Broker, objects: ObjectStore, ledger: Ledger, call: Call) {
    this.#broker = broker;
    this.#objects = objects;
    this.#ledger = ledger;
    this.#call = call;
  }

  async open(): Promise<void> {}

  async begin(context: SinkContext): Promise<Rows> {
    return new Rows(context);
  }

  async preCommit(transaction: Transaction): Promise<Prepared | undefined> {
    const { context, byPartition } = transaction as Rows;
    const staged: (Staged & Json)[] = [];
    for (const [partition, rows] of [...byPartition].sort(([one], [other]) => one - other)) {
      const nonce = `${context.nonce}.${context.sink}.${partition}`;
      const object = objectKey({ ...context, nonce }, "shuffle");
      await this.#objects.put(object, [Buffer.from(JSON.stringify(rows))], { durable: true });
      staged.push({ partition, object });
    }
    return staged.length === 0 ? undefined : { staged };
  }

  units(prepared: readonly PreparedTask<Prepared>[], { token, previous }: UnitDecision): CommitUnit<LaneUnit>[] {
    const all = prepared.flatMap(({ handle }) => handle.staged);
    return Array.from({ length: lanes }, (_, lane) => ({
      key: `lane-${lane}`,
      unit: {
        token,
        previous: previous(`lane-${lane}`),
        batches: all.filter(({ partition }) => partition % lanes === lane),
      },
    })).filter(({ unit }) => unit.batches.length > 0);
  }

  async commit(context: {
    pipeline: string;
    uid: string;
    sink: string;
    epoch: number;
    key: string;
    unit: LaneUnit;
  }): Promise<void> {
    const { pipeline, uid, sink, epoch, key, unit } = context;
    const id = `epochflow.${pipeline}.${uid}.${sink}.${key}`;
    // A new producer: it fences zombies, and waits for their markers. Only then is read what they have done.
    const producer = await this.#call("kafka.init", () => this.#broker.initProducerId(id));
    const marker = await this.#call("kafka.fetchOffset", () => this.#broker.fetchOffset(id));
    const row = (await this.#ledger.units(epoch, sink)).find((one) => one.key === key);
    if (row?.status !== "prepared") return;
    if (marker?.value === epoch && marker.metadata === unit.token) return;
    if (marker && marker.value > epoch && ((await this.#ledger.head())?.committed ?? 0) >= epoch) return;
    const expected = await this.#lastCommitted(sink, key, unit.previous);
    if ((marker?.value ?? null) !== expected)
      throw new LossError("unknown-marker", `lane ${key} has marker ${marker?.value}, not ${expected}`, {
        place: { epoch, sink },
      });
    const sequences = new Map<number, number>();
    for (const { partition, object } of unit.batches) {
      const rows = await this.#staged(object, epoch);
      const sequence = sequences.get(partition) ?? 0;
      await this.#call("kafka.produce", () =>
        this.#broker.produce(id, producer, `${sink}-${partition}`, sequence, rows),
      );
      sequences.set(partition, sequence + rows.length);
    }
    const mark = { value: epoch, metadata: unit.token };
    await this.#call("kafka.commitOffset", () => this.#broker.commitOffset(id, producer, id, mark));
    await this.#call("kafka.end", () => this.#broker.endTransaction(id, producer));
  }

  /** What is staged lies in the object store, whose collector takes it. */
  async abort(): Promise<void> {}

  async close(): Promise<void> {}

  /** Looks through epochs whose unit was abandoned. */
  async #lastCommitted(sink: string, key: string, previous: number | null): Promise<number | null> {
    for (let epoch = previous; epoch !== null; ) {
      const unit = (await this.#ledger.units(epoch, sink)).find((one) => one.key === key);
      if (unit?.status !== "abandoned") return epoch;
      epoch = (unit.unit as LaneUnit).previous;
    }
    return null;
  }

  async #staged(object: string, epoch: number): Promise<string[]> {
    const bytes = await this.#objects.get(object);
    if (bytes) return JSON.parse(Buffer.from(bytes).toString());
    throw new LossError("staged-missing", `the staged object ${object} is missing`, { place: { epoch } });
  }
}
