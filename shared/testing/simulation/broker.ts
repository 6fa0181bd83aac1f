import { InfrastructureError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { Nature } from "./sandbox.ts";

/** Rows of one transaction in one partition. */
interface Batch {
  readonly transaction: OpenTransaction;
  readonly rows: readonly string[];
}
export interface Marker {
  readonly value: number;
  readonly metadata: string;
}
interface OpenTransaction {
  outcome: "open" | "prepared to commit" | "prepared to abort" | "committed" | "aborted";
  marker: Marker | undefined;
  group: string | undefined;
}
/** Of rows that are in none. */
const alone: OpenTransaction = { outcome: "committed", marker: undefined, group: undefined };

interface Producer {
  epoch: number;
  /** Next sequence number of each partition. */
  sequences: Map<string, number>;
  transaction: OpenTransaction | undefined;
}

/** What a Kafka broker answers with instead of doing what it was asked. */
export class BrokerError extends InfrastructureError {}

const refuse = (code: string): never => {
  throw new BrokerError(code, `the broker answers ${code}`);
};

/** How long a transaction may stay open. */
const transactionTimeoutMs = 900_000;
/** How long the offset of a group without members is kept. */
const offsetRetentionMs = 7 * 24 * 3_600_000;

/** As much of Kafka as transactions need: producer ids with epochs, transactions with markers that come later, offsets of groups in transactions. */
export class Broker {
  readonly #nature: Nature;
  readonly #producers = new Map<string, Producer>();
  readonly #partitions = new Map<string, Batch[]>();
  readonly #groups = new Map<string, Marker & { readonly at: number }>();
  /** Of each group: whatever was committed, for checkers. */
  readonly #everCommitted = new Map<string, Set<number>>();
  readonly #pending = new Map<string, OpenTransaction>();
  /** Transactions that are over: only then is there anything new for a reader. */
  completed = 0;
  #requests = 0;
  #directProducers = 0;
  readonly #directSequences = new Map<string, number>();

  constructor(nature: Nature) {
    this.#nature = nature;
  }

  /** Fences whoever has the id; ends its transaction first. */
  initProducerId(id: string): number {
    this.#mayMove("InitProducerId");
    const producer = this.#producers.get(id) ?? { epoch: -1, sequences: new Map(), transaction: undefined };
    this.#producers.set(id, producer);
    const { transaction } = producer;
    if (transaction?.outcome === "open") {
      producer.epoch++;
      this.#settle(producer, transaction, "aborted");
    }
    if (isUnsettled(producer.transaction)) return refuse("CONCURRENT_TRANSACTIONS");
    producer.epoch++;
    producer.sequences = new Map();
    producer.transaction = undefined;
    return producer.epoch;
  }

  /** A producer that writes in no transaction, and whom nobody fences. */
  directProducer(): number {
    this.#mayMove("InitProducerId");
    return ++this.#directProducers;
  }

  /** Whether the rows are new: a repetition is known by its sequence number. */
  append(producer: number, partition: string, sequence: number, rows: readonly string[]): boolean {
    this.#mayMove("Produce");
    const expected = this.#directSequences.get(`${producer} ${partition}`) ?? 0;
    if (sequence < expected) return false;
    if (sequence > expected) refuse("OUT_OF_ORDER_SEQUENCE_NUMBER");
    this.#directSequences.set(`${producer} ${partition}`, sequence + rows.length);
    this.#batches(partition).push({ transaction: alone, rows });
    return true;
  }

  produce(id: string, epoch: number, partition: string, sequence: number, rows: readonly string[]): void {
    this.#mayMove("Produce");
    const transaction = this.#open(id, epoch);
    const { sequences } = this.#producers.get(id)!;
    const expected = sequences.get(partition) ?? 0;
    // A duplicate of a request whose answer was lost.
    if (sequence < expected) return;
    if (sequence > expected) refuse("OUT_OF_ORDER_SEQUENCE_NUMBER");
    sequences.set(partition, sequence + rows.length);
    this.#batches(partition).push({ transaction, rows });
  }

  /** AddOffsetsToTxn and TxnOffsetCommit in one. */
  commitOffset(id: string, epoch: number, group: string, marker: Marker): void {
    this.#mayMove("TxnOffsetCommit");
    const transaction = this.#open(id, epoch);
    transaction.marker = marker;
    transaction.group = group;
    this.#pending.set(group, transaction);
  }

  /** From here on it is certain, and visible when the markers are written. */
  endTransaction(id: string, epoch: number): void {
    this.#mayMove("EndTxn");
    const producer = this.#checked(id, epoch);
    const { transaction } = producer;
    if (!transaction || transaction.outcome === "aborted" || transaction.outcome === "prepared to abort")
      refuse("INVALID_TXN_STATE");
    else if (transaction.outcome === "open") this.#settle(producer, transaction, "committed");
  }

  /** OffsetFetch with `requireStable`. */
  fetchOffset(group: string): Marker | undefined {
    this.#mayMove("OffsetFetch");
    if (isUnsettled(this.#pending.get(group))) return refuse("UNSTABLE_OFFSET_COMMIT");
    const found = this.#groups.get(group);
    if (!this.hasExpired(group)) return found;
    this.#nature.reached("Kafka: an offset has expired");
    return undefined;
  }

  /** The group had an offset, and it is too old. */
  hasExpired(group: string): boolean {
    const found = this.#groups.get(group);
    return found !== undefined && this.#nature.scheduler.now - found.at >= offsetRetentionMs;
  }

  /** Whether a group's marker for an epoch was written, or is certain to be. */
  isCommitted(group: string, epoch: number): boolean {
    const pending = this.#pending.get(group);
    if (pending?.outcome === "prepared to commit" && pending.marker?.value === epoch) return true;
    return this.#everCommitted.get(group)?.has(epoch) === true;
  }

  partitions(): string[] {
    return [...this.#partitions.keys()].sort();
  }

  /** What a read_committed reader has got so far: everything below the first open transaction, without what was aborted. */
  readCommitted(partition: string): string[] {
    const batches = this.#batches(partition);
    const open = batches.findIndex(({ transaction }) => isUnsettled(transaction));
    return batches
      .slice(0, open < 0 ? undefined : open)
      .filter(({ transaction }) => transaction.outcome === "committed")
      .flatMap(({ rows }) => rows);
  }

  state(): Json {
    const open = (one: OpenTransaction | undefined): Json =>
      one ? [one.outcome, one.group ?? null, one.marker ? { ...one.marker } : null] : null;
    return [
      [...this.#producers].map(([id, one]): Json => [id, one.epoch, [...one.sequences].flat(), open(one.transaction)]),
      [...this.#partitions].map(
        ([id, batches]): Json => [id, ...batches.flatMap((one) => [open(one.transaction), ...one.rows])],
      ),
      [...this.#groups].map(([id, marker]): Json => [id, { ...marker }]),
      [...this.#pending].map(([id, one]): Json => [id, open(one)]),
      [this.#directProducers, ...[...this.#directSequences].flat()],
    ];
  }

  #batches(partition: string): Batch[] {
    const batches = this.#partitions.get(partition) ?? [];
    this.#partitions.set(partition, batches);
    return batches;
  }

  #checked(id: string, epoch: number): Producer {
    const producer = this.#producers.get(id);
    return producer?.epoch === epoch ? producer : refuse("INVALID_PRODUCER_EPOCH");
  }

  /** The producer's open transaction; begun if it has none. */
  #open(id: string, epoch: number): OpenTransaction {
    const producer = this.#checked(id, epoch);
    if (producer.transaction?.outcome === "open") return producer.transaction;
    if (isUnsettled(producer.transaction)) return refuse("CONCURRENT_TRANSACTIONS");
    const transaction: OpenTransaction = { outcome: "open", marker: undefined, group: undefined };
    producer.transaction = transaction;
    const site = `transaction of ${id} ${epoch} ${++this.#requests}`;
    const { scheduler, chance, faults } = this.#nature;
    const early = faults.hits("transaction times out", site);
    const timeOut = () => {
      if (producer.transaction !== transaction || transaction.outcome !== "open") return;
      producer.epoch++;
      this.#settle(producer, transaction, "aborted");
      this.#nature.note(`the broker gives up a transaction of ${id}`);
      this.#nature.afterEffect();
    };
    if (early) scheduler.step(site, chance.magnitude(site, 1, 1000), timeOut, { isLate: true });
    else scheduler.after(transactionTimeoutMs, timeOut, site);
    return transaction;
  }

  #settle(producer: Producer, transaction: OpenTransaction, outcome: "committed" | "aborted"): void {
    transaction.outcome = outcome === "committed" ? "prepared to commit" : "prepared to abort";
    const { scheduler, chance, faults } = this.#nature;
    const site = `markers ${++this.#requests}`;
    const delay = faults.hits("markers are slow", site)
      ? chance.magnitude(site, 100, 60_000)
      : chance.magnitude(site, 0.1, 10);
    scheduler.step(site, delay, () => {
      transaction.outcome = outcome;
      this.completed++;
      if (producer.transaction === transaction) producer.transaction = undefined;
      const { group, marker } = transaction;
      if (group !== undefined && this.#pending.get(group) === transaction) this.#pending.delete(group);
      if (outcome === "committed" && group !== undefined && marker) {
        this.#groups.set(group, { ...marker, at: scheduler.now });
        this.#everCommitted.set(group, (this.#everCommitted.get(group) ?? new Set()).add(marker.value));
      }
      this.#nature.afterEffect();
    });
  }

  /** A request may meet a broker that is the leader, or coordinator, no more. */
  #mayMove(request: string): void {
    if (this.#nature.faults.hits("leader changes", `${request} ${++this.#requests}`))
      refuse("NOT_LEADER_OR_COORDINATOR");
  }
}

const isUnsettled = (transaction: OpenTransaction | undefined): boolean =>
  transaction !== undefined && transaction.outcome !== "committed" && transaction.outcome !== "aborted";
