import type { KafkaSourceSettings } from "../../../pipeline/connectors/kafka.ts";
import type { Clock } from "../../../ports/clock.ts";
import type {
  CutLimit,
  HeldBack,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../../ports/source.ts";
import type { KafkaClient } from "../client.ts";
import { retrying } from "../retrying.ts";
import { Discovery } from "./discovery.ts";
import { parseIdentity, parsePartitionId, partitionId } from "./identity.ts";
import { type Piece, Prefetcher } from "./prefetcher.ts";
import { RangeReader, type ReadOptions, type ReadRange } from "./range-reader.ts";
import { SizeEstimate } from "./size-estimate.ts";
import { TopicSelection } from "./topics.ts";

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

const defaults = {
  // A turn of the event loop is about one of them, and two are held at a time; the smaller, the more a fetch itself counts.
  fetchBytes: 512 * kibibyte,
  maxBatchBytes: 256 * mebibyte,
  // Below the time in which a task must give a sign of life.
  timeoutMs: 45_000,
};

/** Whoever plans says what is wrong, waits, and plans again: so there is no need to hold that up. */
const planPatienceMs = 5_000;

/** Time after which somebody who waits for records looks for new partitions, too. */
const watchMs = 1000;

export interface KafkaSourceSurroundings {
  /** The input ends where the partitions end when they are first looked at; partitions that are made later are left to a later run. */
  readonly bounded: boolean;
  readonly clock: Clock;
  /** The process goes on between two epochs: `prefetch` is heard. */
  readonly stays?: boolean;
  /** Bytes that a fetch asks for; 512 KiB. */
  readonly fetchBytes?: number;
  /** Bytes to which a batch may inflate; a larger one follows `onError`. 256 MiB. */
  readonly maxBatchBytes?: number;
  /** Milliseconds for which a read that fails, or gives nothing, is tried again; 45 s. */
  readonly timeoutMs?: number;
}

/**
 * Topics of a Kafka cluster (protocol §7): each partition is one of the source's, under the id `topic/partition`, read in ranges of offsets from its leader,
 * without a consumer group. A range's records are the same however often it is read, or it is a `LossError`.
 *
 * `cut` counts offsets: control records, aborted ones and those that compaction removed count like records. What a range has in bytes is estimated
 * by a look at some of its records.
 */
export function createKafkaSource(
  settings: Omit<KafkaSourceSettings, "connection">,
  client: KafkaClient,
  surroundings: KafkaSourceSurroundings,
): Source {
  return new KafkaSource(settings, client, surroundings);
}

async function* nothing(): AsyncGenerator<never> {}

class KafkaSource implements Source {
  readonly offsets = "records";
  readonly #client: KafkaClient;
  readonly #discovery: Discovery;
  readonly #estimate: SizeEstimate;
  readonly #options: ReadOptions;
  readonly #bounded: boolean;
  readonly #prefetcher: Prefetcher | undefined;
  /** Of a bounded run: its ends, by partition. */
  #ends: ReadonlyMap<string, PartitionStatus> | undefined;
  #found: readonly PartitionStatus[] = [];

  constructor(
    { topics, startFrom, isolation }: Omit<KafkaSourceSettings, "connection">,
    client: KafkaClient,
    { bounded, clock, stays = false, ...options }: KafkaSourceSurroundings,
  ) {
    this.#client = client;
    this.#bounded = bounded;
    this.#discovery = new Discovery(client, clock, { topics: new TopicSelection(topics), startFrom, isolation });
    this.#estimate = new SizeEstimate(clock);
    this.#options = { ...defaults, ...options, isolation };
    this.#prefetcher = stays ? new Prefetcher(client, { isolation, maxBytes: this.#options.fetchBytes }) : undefined;
  }

  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const found = await retrying(() => this.#discovery.discover(known), { timeoutMs: planPatienceMs });
    this.#found = found;
    if (!this.#bounded) return found;
    const ends = this.#ends ?? new Map(found.map((status) => [status.id, status]));
    this.#ends = ends;
    return found.flatMap((status) => {
      const fixed = ends.get(status.id);
      return fixed === undefined ? [] : [{ ...status, end: fixed.end, high: fixed.high }];
    });
  }

  async awaitMore(signal: AbortSignal): Promise<void> {
    const positions = this.#found.map(({ id, high }) => ({ ...parsePartitionId(id), offset: high }));
    if (positions.length > 0) await this.#client.awaitRecords(positions, watchMs, signal);
    else throw new Error("no partition is known yet");
  }

  async heldBack(): Promise<HeldBack[]> {
    const waiting = this.#found.filter(({ end, high }) => high > end).map(({ id }) => parsePartitionId(id));
    if (waiting.length === 0) return [];
    const open = await this.#client.openTransactions(waiting);
    return open.map(({ topic, partition, from, producerId, transactionalId, startedAt, timeoutMs }) => ({
      id: partitionId({ topic, partition }),
      offset: from,
      by:
        transactionalId === null
          ? `producer ${producerId}`
          : `transactional id ${transactionalId} (producer ${producerId})`,
      since: startedAt,
      until: startedAt === null || timeoutMs === null ? null : startedAt + timeoutMs,
    }));
  }

  async cut(range: SourceRange, limit: CutLimit) {
    const { from, to } = range;
    const bytesPerOffset = await this.#bytesPerOffset(range);
    const most = Math.min(
      limit.records ?? to - from,
      (limit.bytes ?? Number.POSITIVE_INFINITY) / bytesPerOffset,
      to - from,
    );
    const records = Math.max(1, Math.floor(most));
    return { to: from + records, records, bytes: Math.ceil(records * bytesPerOffset) };
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    const { from, to } = range;
    const offsets = to - from;
    const pieces = Math.ceil((offsets * (await this.#bytesPerOffset(range))) / pieceBytes);
    const step = Math.max(1, Math.ceil(offsets / pieces));
    return Array.from({ length: Math.ceil(offsets / step) - 1 }, (_, index) => from + (index + 1) * step);
  }

  read(range: SourceRange, signal?: AbortSignal): AsyncIterable<RecordBatch> {
    return range.from < range.to ? this.#reader(range, this.#prefetcher?.take(range)).batches(signal) : nothing();
  }

  prefetch(ranges: readonly SourceRange[]): void {
    this.#prefetcher?.expect(ranges);
  }

  async place({ id }: SourceRange, offset: number) {
    return { partition: id, offset };
  }

  /** The client is its owner's to close. */
  async close(): Promise<void> {
    this.#prefetcher?.close();
  }

  #bytesPerOffset(range: SourceRange): Promise<number> {
    return this.#estimate.bytesPerOffset(range.id, () => this.#reader(range).bytesPerOffset());
  }

  #reader({ id, identity, from, to }: SourceRange, prefetched?: readonly Piece[]): RangeReader {
    const range: ReadRange = { id, of: parsePartitionId(id), identity: parseIdentity(id, identity), from, to };
    return new RangeReader(this.#client, range, this.#options, prefetched);
  }
}
