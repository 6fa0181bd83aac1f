import { digest } from "../../epoch/digest.ts";
import { objectKey } from "../../epoch/names.ts";
import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type {
  CommitContext,
  CommitUnit,
  PreparedTask,
  SinkContext,
  Transaction,
  TwoPhaseCommitSink,
  UnitDecision,
} from "../../ports/sink.ts";
import type { Broker, Marker } from "./broker.ts";
import type { Call } from "./log.ts";
import type { Publications } from "./publications.ts";

export const targetPartitions = 3;
const lanes = 2;
const day = 24 * 3_600_000;

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

/** The same call again, under the same sequence number: by that the broker knows what it has got. */
async function stubbornly<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

/** By the row's key, where it has one: rows of a key stay in order. */
export function partitionOf(row: unknown): number {
  const key = row !== null && typeof row === "object" && "key" in row ? row.key : row;
  return Number.parseInt(digest((key ?? null) as Json).slice(0, 6), 16) % targetPartitions;
}

/** Unit key of the lane that a target partition belongs to. */
export const laneOf = (partition: number): string => `lane-${partition % lanes}`;

export function transactionalId({
  pipeline,
  uid,
  sink,
  key,
}: Pick<CommitContext, "pipeline" | "uid" | "sink" | "key">): string {
  return `epochflow.${pipeline}.${uid}.${sink}.${key}`;
}

/**
 * The Kafka sink of DESIGN §9: staged in the object store at pre-commit; committed by one transaction a lane and epoch, under a marker that tells which
 * epoch a lane has got.
 */
export class LaneSink implements TwoPhaseCommitSink<unknown, Prepared, LaneUnit> {
  readonly #broker: Broker;
  readonly #objects: ObjectStore;
  readonly #call: Call;
  readonly #now: () => number;
  readonly #publications: Publications;

  constructor(broker: Broker, objects: ObjectStore, call: Call, now: () => number, publications: Publications) {
    this.#publications = publications;
    this.#broker = broker;
    this.#objects = objects;
    this.#call = call;
    this.#now = now;
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

  async publish(transaction: Transaction): Promise<void> {
    const { context, byPartition } = transaction as Rows;
    const producer = await stubbornly(() => this.#call("kafka.init", () => this.#broker.directProducer()));
    for (const [number, rows] of [...byPartition].sort(([one], [other]) => one - other)) {
      const partition = `${context.sink}-${number}`;
      const append = () => {
        if (this.#broker.append(producer, partition, 0, rows)) this.#publications.add(context, partition, rows);
      };
      await stubbornly(() => this.#call("kafka.produce", append));
    }
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

  async commit(context: CommitContext<LaneUnit>): Promise<void> {
    const { sink, epoch, key, unit, ledger } = context;
    const id = transactionalId(context);
    // A new producer: it fences zombies, and waits for their markers. Only then is read what they have done.
    const producer = await this.#call("kafka.init", () => this.#broker.initProducerId(id));
    const marker = await this.#call("kafka.fetchOffset", () => this.#broker.fetchOffset(id));
    if ((await ledger.unit(epoch))?.status !== "prepared") return;
    if (marker?.value === epoch && marker.metadata === unit.token) return;
    if (marker && marker.value > epoch && (await ledger.committed()) >= epoch) return;
    if (!(await this.#mayFollow(context, marker)))
      throw new LossError(
        "unknown-marker",
        `lane ${key} has marker ${marker?.value}, which epoch ${epoch} cannot follow`,
        {
          place: { epoch, sink },
        },
      );
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

  /** Ends whoever is still about to commit the unit, and only then looks whether one has. */
  async abandon(context: CommitContext<LaneUnit>): Promise<"committed" | "lost" | "unknown"> {
    const id = transactionalId(context);
    await this.#call("kafka.init", () => this.#broker.initProducerId(id));
    const marker = await this.#call("kafka.fetchOffset", () => this.#broker.fetchOffset(id));
    if (marker?.value === context.epoch && marker.metadata === context.unit.token) return "committed";
    if (marker && marker.value < context.epoch) return "lost";
    const decidedAt = (await context.ledger.decidedAt(context.epoch)) ?? Number.NEGATIVE_INFINITY;
    return this.#now() - decidedAt < day ? "lost" : "unknown";
  }

  /** What is staged lies in the object store, whose collector takes it. */
  async abort(): Promise<void> {}

  async close(): Promise<void> {}

  /**
   * The table of protocol §9. The marker is of the epoch before, or of one that was abandoned since, which may have become visible after all. An absent one is fine where none
   * can be there: this epoch is too young for its own to have expired, and the one before has none, or one that is old enough.
   */
  async #mayFollow({ unit, epoch, ledger }: CommitContext<LaneUnit>, marker: Marker | undefined): Promise<boolean> {
    let { previous } = unit;
    let abandoned: number | null = null;
    for (; previous !== null; ) {
      const before = await ledger.unit(previous);
      if (marker?.value === previous) {
        // Given up, and there: from the next epoch on nobody can tell any more.
        if (before?.status === "abandoned") await ledger.recover(previous);
        return true;
      }
      if (before?.status !== "abandoned") break;
      abandoned = previous;
      ({ previous } = before.unit as LaneUnit);
    }
    if (marker) return false;
    const age = async (of: number | null) => {
      const decidedAt = of === null ? undefined : await ledger.decidedAt(of);
      return decidedAt === undefined ? undefined : this.#now() - decidedAt;
    };
    // The ledger keeps the epoch that a key had output in last. One before an abandoned one may be collected, and is at least as old as that.
    const ageBefore = (await age(previous)) ?? (await age(abandoned)) ?? 0;
    return ((await age(epoch)) ?? 0) < day && (previous === null || ageBefore > 6 * day);
  }

  async #staged(object: string, epoch: number): Promise<string[]> {
    const bytes = await this.#objects.get(object);
    if (bytes) return JSON.parse(Buffer.from(bytes).toString());
    throw new LossError("staged-missing", `the staged object ${object} is missing`, { place: { epoch } });
  }
}
