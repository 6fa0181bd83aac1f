import type { InfrastructureError } from "../../../errors.ts";
import type { RecordBatch } from "../../../ports/source.ts";
import { isTransient } from "../broker-errors.ts";
import type { Fetched, Isolation, KafkaClient, TopicPartition } from "../client.ts";
import { isKafkaError, KafkaError } from "../errors.ts";
import { Decoder, noRecords, offsetAfter } from "../record-batch/decode.ts";
import { retrying } from "../retrying.ts";
import { checkUnchanged } from "./checks.ts";
import { endBelow, offsetsGone, unreadable } from "./errors.ts";
import type { PartitionIdentity } from "./identity.ts";
import type { Piece } from "./prefetcher.ts";

/** How long a broker may wait for records of which we know that they are there. */
const maxWaitMs = 500;
/** So often must a log show nothing where there should be records before we take it that they were compacted away. */
const emptyFetches = 2;

export interface ReadRange {
  readonly id: string;
  readonly of: TopicPartition;
  readonly identity: PartitionIdentity;
  readonly from: number;
  readonly to: number;
}

export interface ReadOptions {
  readonly isolation: Isolation;
  /** Bytes that a fetch asks for: a larger batch comes whole, too. */
  readonly fetchBytes: number;
  /** A batch that inflates to more is refused. */
  readonly maxBatchBytes: number;
  /** How long a place may stay unreadable. */
  readonly timeoutMs: number;
}

/** The last one of a range brings the word that topic and log are still those of the plan. */
interface CheckedPiece extends Piece {
  readonly unchanged?: Promise<void>;
  /** The one behind it, where that was begun already. */
  readonly ahead?: Promise<CheckedPiece>;
}

/** Reads a range of a partition from its leader, outside of any group, one fetch ahead of its consumer: the first begins at once. */
export class RangeReader {
  readonly #client: KafkaClient;
  readonly #range: ReadRange;
  readonly #options: ReadOptions;
  readonly #prefetched: Iterator<Piece>;

  /** @param prefetched pieces from the range's beginning on, which need not be fetched any more */
  constructor(client: KafkaClient, range: ReadRange, options: ReadOptions, prefetched: Iterable<Piece> = []) {
    this.#client = client;
    this.#range = range;
    this.#options = options;
    this.#prefetched = prefetched[Symbol.iterator]();
  }

  /**
   * @throws LossError if what the range was planned on is not there any more (I8), or is corrupt
   * @throws InfrastructureError if it stays unreadable for too long
   */
  batches(signal?: AbortSignal): AsyncIterable<RecordBatch> {
    const stop = new AbortController();
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    return this.#batches(this.#fetchAhead(this.#range.from, either), either, stop);
  }

  async *#batches(first: Promise<CheckedPiece>, signal: AbortSignal, stop: AbortController) {
    const { id, from, to } = this.#range;
    const decoder = new Decoder(id, this.#options);
    try {
      let ahead = first;
      for (let position = from; position < to; ) {
        const piece: CheckedPiece = await ahead;
        const { fetched, next, unchanged } = piece;
        if (next < to) ahead = piece.ahead ?? this.#fetchAhead(next, signal);
        for (const batch of decoder.decode(fetched, position, to)) {
          signal.throwIfAborted();
          yield batch;
          position = batch.next;
        }
        // Whoever asks for more has done with what there was.
        this.#client.release(fetched);
        // Nothing is left of the records there.
        if (position < next) yield noRecords(next);
        position = next;
        await unchanged;
      }
    } finally {
      // What is under way is of no use to anybody.
      stop.abort();
    }
  }

  /** Bytes of values an offset, from the first records of the range. */
  async bytesPerOffset(): Promise<number> {
    const { id, from } = this.#range;
    const { fetched, next } = await this.#fetch(from, undefined);
    let bytes = 0;
    for (const { count, valueStart, valueEnd } of new Decoder(id, this.#options).decode(fetched, from, next))
      for (let row = 0; row < count; row += 1) bytes += valueEnd[row]! - valueStart[row]!;
    this.#client.release(fetched);
    return Math.max(1, bytes / (next - from));
  }

  /** Whoever awaits it later meets its error, if anybody does. */
  #fetchAhead(position: number, signal: AbortSignal): Promise<CheckedPiece> {
    const { to } = this.#range;
    const { value: prefetched } = this.#prefetched.next() as IteratorResult<Piece, undefined>;
    const fetching = async (): Promise<CheckedPiece> => {
      const { fetched, next } = prefetched ?? (await this.#fetch(position, signal));
      if (next >= to) return { fetched, next: to, unchanged: heard(this.#checkUnchanged(signal)) };
      // Nothing had to be waited for so far: so what is missing is fetched at once.
      return { fetched, next, ...(prefetched && { ahead: this.#fetchAhead(next, signal) }) };
    };
    return heard(fetching());
  }

  async #fetch(position: number, signal: AbortSignal | undefined): Promise<Piece> {
    const { id, to } = this.#range;
    const until = performance.now() + this.#options.timeoutMs;
    for (let empty = 1; ; empty += 1) {
      const fetched = await this.#fetchOnce(position, until - performance.now(), signal);
      const next = offsetAfter(fetched.records) ?? position;
      if (next > position) return { fetched, next: Math.min(next, to) };
      const end = this.#options.isolation === "read_committed" ? fetched.lastStable : fetched.highWatermark;
      if (end >= to && empty >= emptyFetches) return { fetched, next: to };
      if (performance.now() >= until) throw endBelow(id, to, end);
    }
  }

  /** Rides out what passes by itself: a new leader, a broker that is restarted, a connection that breaks, throttling. */
  async #fetchOnce(position: number, timeoutMs: number, signal: AbortSignal | undefined): Promise<Fetched> {
    const { id, of } = this.#range;
    const { isolation, fetchBytes } = this.#options;
    const request = { ...of, offset: position, isolation, maxBytes: fetchBytes, maxWaitMs };
    const call = async () => {
      try {
        return await this.#client.fetch(request, signal);
      } catch (error) {
        if (isKafkaError(error, ...maybeLosses)) await this.#explain(position);
        throw error;
      }
    };
    return await this.#patiently(call, timeoutMs, signal, (error) => unreadable(id, position, timeoutMs, error));
  }

  /** @throws LossError if the position is gone for good; else it may come back */
  async #explain(position: number): Promise<void> {
    const { id, of, identity, to } = this.#range;
    await checkUnchanged(this.#client, { id, of, identity, position: to });
    const [start] = await this.#client.offsets([of], "earliest");
    if (start! > position) throw offsetsGone(id, position, start!);
  }

  async #checkUnchanged(signal: AbortSignal): Promise<void> {
    const { id, of, identity, to } = this.#range;
    const { timeoutMs } = this.#options;
    const call = () => checkUnchanged(this.#client, { id, of, identity, position: to });
    await this.#patiently(call, timeoutMs, signal, (error) => unreadable(id, to, timeoutMs, error));
  }

  async #patiently<T>(
    call: () => Promise<T>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    failed: (error: InfrastructureError) => Error,
  ): Promise<T> {
    try {
      return await retrying(call, { timeoutMs, signal, retryable: mayPass });
    } catch (error) {
      throw error instanceof KafkaError ? failed(error) : error;
    }
  }
}

/** Errors that may say that records are gone. */
const maybeLosses = ["OFFSET_OUT_OF_RANGE", "UNKNOWN_TOPIC_OR_PARTITION"];

/** A leader that was just elected may not know its end yet. */
const mayPass = (error: unknown): boolean => isTransient(error) || isKafkaError(error, "OFFSET_OUT_OF_RANGE");

/** Its error is met by whoever awaits it later, if anybody does. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
