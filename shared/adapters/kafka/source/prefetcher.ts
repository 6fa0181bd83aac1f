import type { SourceRange } from "../../../ports/source.ts";
import type { Fetched, Isolation, KafkaClient } from "../client.ts";
import { offsetAfter } from "../record-batch/decode.ts";
import { type PartitionIdentity, parseIdentity, parsePartitionId } from "./identity.ts";

/** Whole batches, and the offset behind them. */
export interface Piece {
  readonly fetched: Fetched;
  readonly next: number;
}

/** Bytes that are held of all partitions together. */
const mostBytes = 4 << 20;
/** A call is answered when there are so many bytes, or after so long: each costs the broker and us the same, however little it brings. */
const [minBytes, maxWaitMs] = [128 << 10, 500];

/** A partition's next range, as far as it is known: where it begins, and what was fetched from there on. */
interface Expected {
  readonly id: string;
  readonly identity: PartitionIdentity;
  readonly from: number;
  readonly pieces: Piece[];
  next: number;
  bytes: number;
}

/**
 * Fetches what the next ranges will surely have, while nobody has planned them yet: then little is left to wait for. It only ever saves a fetch. A range gets
 * what was fetched for it if it begins there, on the same topic and in the same leader epoch as the broker was in then: within an epoch a leader's log only
 * grows, so it is what a fetch would bring now. Whatever goes wrong is forgotten, and met by whoever reads.
 */
export class Prefetcher {
  readonly #client: KafkaClient;
  readonly #limits: { readonly isolation: Isolation; readonly maxBytes: number };
  readonly #expected = new Map<string, Expected>();
  readonly #stop = new AbortController();
  #isRunning = false;

  /** @param limits `maxBytes`: of a partition, a call */
  constructor(client: KafkaClient, limits: { readonly isolation: Isolation; readonly maxBytes: number }) {
    this.#client = client;
    this.#limits = limits;
  }

  /** The next ranges of these partitions will begin where these end, and others are read elsewhere. */
  expect(ranges: readonly SourceRange[]): void {
    for (const one of this.#expected.values()) this.#drop(one);
    for (const { id, identity, to } of ranges) {
      const expected = { id, identity: parseIdentity(id, identity), from: to, pieces: [], next: to, bytes: 0 };
      this.#expected.set(id, expected);
    }
    if (!this.#isRunning) void this.#run();
  }

  /** What there is of a range from its beginning on, perhaps beyond its end. The partition is left alone until it is expected again. */
  take({ id, identity, from }: SourceRange): Piece[] {
    const expected = this.#expected.get(id);
    if (expected === undefined) return [];
    const { topicId, leaderEpoch } = parseIdentity(id, identity);
    const isSame = topicId === expected.identity.topicId && leaderEpoch === expected.identity.leaderEpoch;
    if (!isSame || expected.from !== from) return this.#drop(expected);
    this.#expected.delete(id);
    return expected.pieces;
  }

  #drop({ id, pieces }: Expected): [] {
    this.#expected.delete(id);
    for (const { fetched } of pieces) this.#client.release(fetched);
    return [];
  }

  close(): void {
    this.#stop.abort();
    this.#expected.clear();
  }

  /** Until there is enough of all, or nothing comes. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (await this.#fetch());
    } catch {
      this.#expected.clear();
    } finally {
      this.#isRunning = false;
    }
  }

  async #fetch(): Promise<boolean> {
    const share = Math.floor(mostBytes / this.#expected.size);
    const open = [...this.#expected.values()].filter(({ bytes }) => bytes < share);
    if (open.length === 0) return false;
    const positions = open.map(({ id, identity: { leaderEpoch }, next }) => ({
      ...parsePartitionId(id),
      offset: next,
      leaderEpoch,
    }));
    const limits = { ...this.#limits, minBytes, maxWaitMs };
    const answers = await this.#client.fetchEach(positions, limits, this.#stop.signal);
    const added = open.map((one, index) => this.#add(one, answers[index]));
    return added.some((isMore) => isMore);
  }

  #add(one: Expected, fetched: Fetched | undefined): boolean {
    // Taken meanwhile: what else came of it is not missing anywhere.
    if (this.#expected.get(one.id) !== one) return true;
    if (fetched === undefined) return !this.#expected.delete(one.id);
    const next = offsetAfter(fetched.records) ?? one.next;
    if (next <= one.next) {
      this.#client.release(fetched);
      return false;
    }
    one.pieces.push({ fetched, next });
    one.next = next;
    one.bytes += fetched.records.length;
    return true;
  }
}
