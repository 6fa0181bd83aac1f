/** Topics in memory, as far as sources use a cluster, whose logs do what those of brokers do on bad days. */
import { setImmediate as turn } from "node:timers/promises";
import type { Fetched, FetchRequest, KafkaClient, TopicPartition } from "../../../shared/adapters/kafka/client.ts";
import { KafkaError } from "../../../shared/adapters/kafka/errors.ts";
import { writeBatch } from "../../../shared/adapters/kafka/record-batch/test-support.ts";

interface FakeBatch {
  readonly base: number;
  readonly last: number;
  readonly bytes: Buffer;
}

export class FakeLog {
  start = 0;
  /** Of an open transaction; by default the high watermark. */
  lastStable: number | undefined;
  /** Where it is below the log's end. */
  highWatermark: number | undefined;
  leader: number | null = 1;
  leaderEpoch = 0;
  /** What a broker says that has not heard of the last election. */
  staleEpoch: number | undefined;
  /** So many fetches find nothing, for no reason. */
  emptyAnswers = 0;
  /** Where leader epochs end. */
  readonly ends = new Map<number, number>();
  batches: FakeBatch[] = [];
  /** Offsets behind the last batch that are there no more, as after compaction. */
  gap = 0;

  get end(): number {
    return this.highWatermark ?? (this.batches.at(-1)?.last ?? this.start - 1) + 1 + this.gap;
  }

  get stable(): number {
    return Math.min(this.lastStable ?? this.end, this.end);
  }

  append(...values: readonly (string | Buffer | null)[]): void {
    const base = this.end;
    const records = values.map((value, n) => ({
      offset: base + n,
      timestamp: 1000 + base + n,
      key: null,
      value: value === null ? null : Buffer.from(value),
      headers: [],
    }));
    const last = base + values.length - 1;
    this.batches.push({ base, last, bytes: writeBatch({ baseOffset: base, lastOffset: last, records }) });
  }

  /** A leader is elected that has less: what lies at and behind an offset is gone. */
  truncate(to: number): void {
    this.ends.set(this.leaderEpoch++, to);
    this.batches = this.batches.filter(({ last }) => last < to);
  }

  fetch({ offset, isolation, maxBytes }: FetchRequest): Fetched {
    const { start, end, stable } = this;
    if (offset < start || offset > end) throw refusal("OFFSET_OUT_OF_RANGE");
    const limit = isolation === "read_committed" ? stable : end;
    const batches = this.batches.filter(({ base, last }) => last >= offset && base < limit).map(({ bytes }) => bytes);
    const size = Math.max(maxBytes, batches[0]?.length ?? 0);
    const records = this.emptyAnswers-- > 0 ? Buffer.alloc(0) : Buffer.concat(batches).subarray(0, size);
    return { records, logStart: start, highWatermark: end, lastStable: stable, aborted: [] };
  }
}

export const refusal = (broker: string) => new KafkaError(broker, `the broker answers ${broker}`);

export class FakeTopics {
  readonly #topics = new Map<string, { readonly id: string; readonly logs: FakeLog[] }>();
  #ids = 0;
  /** Calls so far, by name. */
  readonly calls: { readonly method: string; readonly request?: FetchRequest | undefined }[] = [];
  /** Called before each call; throws what it is to throw. */
  before: (method: keyof KafkaClient, request?: FetchRequest) => void | Promise<void> = () => {};

  create(topic: string, partitions = 1): FakeLog[] {
    const logs = Array.from({ length: partitions }, () => new FakeLog());
    this.#topics.set(topic, { id: `id-${this.#ids++}`, logs });
    return logs;
  }

  delete(topic: string): void {
    this.#topics.delete(topic);
  }

  client(): KafkaClient {
    const call = async <T>(method: keyof KafkaClient, run: () => T, request?: FetchRequest, signal?: AbortSignal) => {
      this.calls.push({ method, request });
      await turn();
      await this.before(method, request);
      signal?.throwIfAborted();
      return run();
    };
    const unused = () => Promise.reject(new Error("not a matter of sources"));
    return {
      topics: (names) => call("topics", () => this.#describe(names)),
      offsets: (partitions, which) => call("offsets", () => partitions.map((one) => offsetOf(this.#log(one), which))),
      ends: (partitions, isolation) =>
        call("ends", () =>
          partitions.map((one) => {
            const { end, stable, leaderEpoch } = this.#log(one);
            return { offset: isolation === "read_committed" ? stable : end, leaderEpoch };
          }),
        ),
      endOfLeaderEpoch: (partition, epoch) =>
        call("endOfLeaderEpoch", () => this.#log(partition).ends.get(epoch) ?? -1),
      fetch: (request, signal) => call("fetch", () => this.#log(request).fetch(request), request, signal),
      fetchEach: (positions, limits, signal) =>
        call(
          "fetchEach",
          () =>
            positions.map((one) => {
              const log = this.#log(one);
              if (log.leaderEpoch !== one.leaderEpoch) return undefined;
              return log.fetch({ ...one, ...limits });
            }),
          undefined,
          signal,
        ),
      // Something else lies there then: whoever still looks at it finds that.
      release: ({ records }) => void records.fill(0xff),
      awaitRecords: unused,
      openTransactions: unused,
      topicConfiguration: unused,
      brokerConfiguration: unused,
      verifiesTransactions: unused,
      idempotentProducer: unused,
      initProducer: unused,
      addPartitions: unused,
      produce: unused,
      addGroupOffset: unused,
      endTransaction: unused,
      groupOffset: unused,
      close: async () => {},
    };
  }

  #describe(names: readonly string[] | null) {
    return [...this.#topics]
      .filter(([topic]) => names?.includes(topic) !== false)
      .map(([topic, { id, logs }]) => ({
        topic,
        id,
        internal: topic.startsWith("__"),
        partitions: logs.map(({ leader, leaderEpoch, staleEpoch }, partition) => ({
          partition,
          leader,
          leaderEpoch: staleEpoch ?? leaderEpoch,
        })),
      }));
  }

  #log({ topic, partition }: TopicPartition): FakeLog {
    const log = this.#topics.get(topic)?.logs[partition];
    if (log === undefined) throw refusal("UNKNOWN_TOPIC_OR_PARTITION");
    return log;
  }
}

function offsetOf(log: FakeLog, which: Parameters<KafkaClient["offsets"]>[1]): number {
  if (which === "earliest") return log.start;
  const offset = which.timestamp - 1000;
  return offset >= log.end ? -1 : Math.max(offset, log.start);
}
