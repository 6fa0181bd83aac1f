import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import type { Chance } from "./chance.ts";

interface Entry {
  readonly offset: number;
  readonly value: Buffer;
  /** Visible to readers; false while its transaction is open. */
  stable: boolean;
  /** Of an aborted transaction, or a control record: only a gap. */
  gone: boolean;
}

interface Partition {
  readonly id: string;
  readonly entries: Entry[];
  /** Records below are gone by retention. */
  start: number;
  /** Offset of the next record. */
  high: number;
}

/** A log as Kafka has it: partitions with offsets that have gaps, transactions, retention. */
export class SimulatedLog {
  readonly #chance: Chance;
  readonly #partitions = new Map<string, Partition>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  ids(): string[] {
    return [...this.#partitions.keys()];
  }

  /** Appends, under a transaction if `open`; returns what settles it. */
  append(id: string, values: readonly (string | Uint8Array)[], open: boolean): (outcome: "commit" | "abort") => void {
    const partition = this.#partitions.get(id) ?? { id, entries: [], start: 0, high: 0 };
    this.#partitions.set(id, partition);
    const added = values.map((value) => {
      const offset = partition.high + this.#chance.below(`${id} gap ${partition.high}`, 3);
      partition.high = offset + 1;
      return { offset, value: Buffer.from(value as Uint8Array), stable: !open, gone: false };
    });
    partition.entries.push(...added);
    return (outcome) => {
      // The control record that ends a transaction takes an offset, too.
      partition.high++;
      for (const entry of added) {
        entry.stable = true;
        entry.gone = outcome === "abort";
      }
    };
  }

  /** Retention: everything below the offset is gone. */
  truncate(id: string, below: number): void {
    const partition = this.#partitions.get(id)!;
    partition.start = Math.max(partition.start, Math.min(below, endOf(partition)));
  }

  status(id: string): PartitionStatus {
    const partition = this.#partitions.get(id)!;
    return { id, identity: `topic-1/${id}`, start: partition.start, end: endOf(partition), high: partition.high };
  }

  state(): Json {
    return [...this.#partitions.values()].map(
      ({ id, start, high, entries }): Json => [
        ...[id, start, high],
        ...entries.flatMap((one) => [one.offset, one.stable, one.gone]),
      ],
    );
  }

  /** Records of a range, those that retention has taken included: for checkers. */
  archived({ id, from, to }: Pick<SourceRange, "id" | "from" | "to">): { offset: number; value: Buffer }[] {
    const { entries } = this.#partitions.get(id)!;
    return entries.filter((one) => one.offset >= from && one.offset < to && one.stable && !one.gone);
  }
}

/** The last stable offset. */
function endOf({ entries, high }: Partition): number {
  return entries.find((one) => !one.stable)?.offset ?? high;
}

/** Makes one atomic call of what it is given, at the service. */
export type Call = <T>(method: string, effect: () => T) => Promise<T>;

interface LogSourceOptions {
  /** With what retention has taken; for checkers. */
  readonly archive?: boolean;
  /** Called when somebody has looked where the log ends; he knows it when this resolves. `isQuiet`: there was nothing new. */
  readonly looked?: (isQuiet: boolean) => Promise<void>;
}

/** The log as a source. */
export class LogSource implements Source {
  readonly offsets = "records";
  readonly #log: SimulatedLog;
  readonly #chance: Chance;
  readonly #call: Call;
  readonly #options: LogSourceOptions;

  constructor(log: SimulatedLog, chance: Chance, call: Call, options: LogSourceOptions = {}) {
    this.#log = log;
    this.#chance = chance;
    this.#call = call;
    this.#options = options;
  }

  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const statuses = await this.#call("source.discover", () => {
      for (const { id, position } of known) this.#refuseTruncated({ id, from: position });
      return this.#log.ids().map((id) => this.#log.status(id));
    });
    const positions = new Map(known.map(({ id, position }) => [id, position]));
    await this.#options.looked?.(statuses.every(({ id, end }) => positions.get(id) === end));
    return statuses;
  }

  cut(range: SourceRange, limit: CutLimit): Promise<{ to: number; records: number; bytes: number }> {
    return this.#call("source.cut", () => {
      const records = this.#log.archived(range);
      let bytes = 0;
      for (const [index, { value }] of records.entries()) {
        bytes += value.length;
        const isFull = index + 1 >= (limit.records ?? Infinity) || bytes >= (limit.bytes ?? Infinity);
        const next = records[index + 1];
        if (isFull && next) return { to: this.#boundary(range, records[index]!, next), records: index + 1, bytes };
      }
      return { to: range.to, records: records.length, bytes };
    });
  }

  split(range: SourceRange): Promise<number[]> {
    return this.#call("source.split", () => {
      const records = this.#log.archived(range);
      const most = this.#chance.below(`${range.id} pieces`, 4);
      return records
        .slice(1)
        .map((one) => one.offset)
        .filter((offset) => offset > range.from && this.#chance.below(`${range.id} cut ${offset}`, 4) < most)
        .slice(0, 3);
    });
  }

  async *read(range: SourceRange): AsyncIterable<RecordBatch> {
    let last: Buffer | undefined;
    for (let from = range.from; from < range.to; ) {
      const start = from;
      const batch = await this.#call("source.read", () => {
        this.#refuseTruncated({ id: range.id, from: start });
        const left = this.#log.archived({ id: range.id, from: start, to: range.to });
        const count = Math.min(left.length, 1 + this.#chance.below(`${range.id} batch ${start}`, 8));
        const next = count === left.length ? range.to : left[count]!.offset;
        return batchOf(left.slice(0, count), next);
      });
      // A source may use its buffer again for the next batch.
      last?.fill("#");
      last = batch.bytes;
      yield batch;
      from = batch.next;
    }
  }

  async close(): Promise<void> {}

  /** Anywhere after the one and not after the other: gaps belong to either side. A function of the range alone. */
  #boundary(range: SourceRange, one: { offset: number }, next: { offset: number }): number {
    const room = next.offset - one.offset;
    return one.offset + 1 + this.#chance.below(`${range.id} boundary ${one.offset}`, room);
  }

  #refuseTruncated({ id, from }: { id: string; from: number }): void {
    const { start } = this.#log.status(id);
    if (this.#options.archive || from >= start) return;
    throw new LossError("offset-gone", `partition ${id} begins at ${start}: records from ${from} on are gone`, {
      place: { partition: id, offset: from },
    });
  }
}

function batchOf(records: readonly { offset: number; value: Buffer }[], next: number): RecordBatch {
  const ends = new Int32Array(records.length);
  const starts = new Int32Array(records.length);
  let at = 0;
  for (const [index, { value }] of records.entries()) {
    starts[index] = at;
    at += value.length;
    ends[index] = at;
  }
  const bytes = Buffer.concat(records.map((one) => one.value));
  const offsets = Float64Array.from(records, (one) => one.offset);
  return { bytes, count: records.length, valueStart: starts, valueEnd: ends, offsets, next };
}
