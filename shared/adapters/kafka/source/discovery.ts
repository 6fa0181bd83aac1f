import type { KafkaStart } from "../../../pipeline/connectors/kafka.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { KnownPartition, PartitionStatus } from "../../../ports/source.ts";
import type { Isolation, KafkaClient, TopicMetadata, TopicPartition } from "../client.ts";
import { checkLeaderEpoch, checkThere } from "./checks.ts";
import { endBelow, endStaysBelow, offsetsGone } from "./errors.ts";
import { type PartitionIdentity, parseIdentity, parsePartitionId, partitionId } from "./identity.ts";
import { type Log, type Start, startsOf } from "./start.ts";
import type { TopicSelection } from "./topics.ts";

/** A log may end too early for so long before it counts as a loss. */
const patienceMs = 60_000;

/** A partition with its log, and what the ledger knows of it. */
interface Found extends Log {
  readonly id: string;
  readonly high: number;
  readonly identity: PartitionIdentity;
  /** The latest leader epoch that anybody tells of. */
  readonly latestEpoch: number;
  readonly known: { readonly identity: PartitionIdentity; readonly position: number } | undefined;
}

/** The partitions of a source as the cluster has them now, held against what the ledger knows (protocol §7, I8). */
export class Discovery {
  readonly #client: KafkaClient;
  readonly #clock: Clock;
  readonly #topics: TopicSelection;
  readonly #startFrom: KafkaStart;
  readonly #isolation: Isolation;
  /** Since when a partition ends below its position, epoch milliseconds. */
  readonly #endsBelowSince = new Map<string, number>();

  constructor(
    client: KafkaClient,
    clock: Clock,
    source: { readonly topics: TopicSelection; readonly startFrom: KafkaStart; readonly isolation: Isolation },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#topics = source.topics;
    this.#startFrom = source.startFrom;
    this.#isolation = source.isolation;
  }

  /** Called again after an error of infrastructure, from the beginning. */
  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const wanted = known.map((one) => ({ ...one, of: parsePartitionId(one.id) }));
    const topics = await this.#topics.find(this.#client, new Set(wanted.map(({ of }) => of.topic)));
    for (const { id, position, identity, of } of wanted)
      checkThere(id, position, parseIdentity(id, identity), of, topics);
    const found = await this.#logs(topics, new Map(known.map((one) => [one.id, one])));
    for (const one of found) await this.#check(one);
    const starts = await this.#starts(found, known.length === 0);
    return found.map(({ id, identity, end, high }, index) => ({ id, identity, end, high, ...starts[index]! }));
  }

  async #logs(topics: readonly TopicMetadata[], known: ReadonlyMap<string, KnownPartition>): Promise<Found[]> {
    const all = topics.flatMap(({ topic, id, partitions }) =>
      partitions.map(({ partition, leaderEpoch }) => ({ of: { topic, partition }, topicId: id, leaderEpoch })),
    );
    const partitions: TopicPartition[] = all.map(({ of }) => of);
    const [starts, ends, highs] = await Promise.all([
      this.#client.offsets(partitions, "earliest"),
      this.#client.ends(partitions, this.#isolation),
      this.#client.ends(partitions, "read_uncommitted"),
    ]);
    return all.map(({ of, topicId, leaderEpoch }, index) => {
      const id = partitionId(of);
      const before = known.get(id);
      const identity = before && parseIdentity(id, before.identity);
      const { offset: end, leaderEpoch: epochOfEnd } = ends[index]!;
      return {
        id,
        of,
        start: starts[index]!,
        end,
        // Asked for at the same moment, one of the two may be a little older.
        high: Math.max(end, highs[index]!.offset),
        // Of the end, since metadata may be older or newer than that; and never behind what is known.
        identity: { topicId, leaderEpoch: Math.max(epochOfEnd, identity?.leaderEpoch ?? 0) },
        latestEpoch: Math.max(epochOfEnd, leaderEpoch),
        known: before && identity && { identity, position: before.position },
      };
    });
  }

  async #check({ id, of, start, end, latestEpoch, known }: Found): Promise<void> {
    if (known === undefined) return;
    const { position } = known;
    if (start > position) throw offsetsGone(id, position, start);
    if (latestEpoch > known.identity.leaderEpoch)
      await checkLeaderEpoch(this.#client, of, known.identity.leaderEpoch, position);
    if (end >= position) this.#endsBelowSince.delete(id);
    else {
      const now = this.#clock.now();
      const since = this.#endsBelowSince.get(id) ?? now;
      this.#endsBelowSince.set(id, since);
      throw now - since < patienceMs ? endBelow(id, position, end) : endStaysBelow(id, position, end);
    }
  }

  /** Partitions that are found later begin at their log's start. */
  async #starts(found: readonly Found[], isFirst: boolean): Promise<Start[]> {
    return await startsOf(this.#client, isFirst ? this.#startFrom : "earliest", found);
  }
}
