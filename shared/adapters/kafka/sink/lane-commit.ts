import { allEnded } from "../../../all-ended.ts";
import { InfrastructureError, LossError } from "../../../errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { ObjectStore } from "../../../ports/object-store.ts";
import type { Random } from "../../../ports/random.ts";
import type { CommitContext } from "../../../ports/sink.ts";
import type { KafkaClient, TopicPartition } from "../client.ts";
import { commitFailed, isWorthAnotherTry } from "./errors.ts";
import { laneId } from "./lane-names.ts";
import { LaneProducer } from "./lane-producer.ts";
import type { LaneUnit } from "./lanes.ts";
import { judgeMarker, type MarkerLimits } from "./marker.ts";
import { persevere } from "./persevere.ts";
import { ReadingMemory } from "./reading-memory.ts";
import { readStaged, type StagedRange } from "./staged-output.ts";

/** Staged bytes that a commit has in memory at once, unless one range is longer. */
const groupBytes = 32 * 1024 * 1024;
/** Beside the marker of an epoch that was given up. */
const abandonedToken = "abandoned";

export interface LaneCommitOptions {
  readonly client: KafkaClient;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly markerTopic: string;
  readonly transactionTimeoutMs: number;
  limits(sink: string): Promise<MarkerLimits>;
}

/** A producer that has committed an epoch, and what it may commit without asking what is there: the lane's next. */
interface WarmProducer {
  readonly producer: LaneProducer;
  readonly committed: number;
}

/**
 * Makes lanes visible in Kafka (protocol §9): one transaction a lane and epoch, with a marker in it that tells which epoch the lane has got. Nothing is open in Kafka
 * between pre-commit and commit, so no outage can lose what was decided; and whether an epoch is there already is asked only when no earlier producer
 * can change the answer any more.
 */
export class LaneCommit {
  readonly #options: LaneCommitOptions;
  readonly #warm = new Map<string, WarmProducer>();
  readonly #memory = new ReadingMemory();

  constructor(options: LaneCommitOptions) {
    this.#options = options;
  }

  async commit(context: CommitContext<LaneUnit>): Promise<void> {
    const warm = this.#takeWarm(context);
    await this.#persevere(context, async (tries, isLate) => {
      const producer = (tries === 0 && warm) || (await this.#fence(context, tries));
      if (producer === undefined) return;
      await this.#publish(producer, context, isLate, tries > 0);
      this.#warm.set(laneId(context), { producer, committed: context.epoch });
    });
  }

  /**
   * Ends whoever is still about to commit the unit, and says whether somebody has. If not, the lane gets the epoch's marker without its rows: the next epoch finds
   * a place to go on from, even where the marker was lost. Not so while an epoch before waits for its commit, which would find the marker above it. Where it
   * cannot be written, the next epoch still looks for the markers before it.
   */
  async abandon(context: CommitContext<LaneUnit>): Promise<"committed" | "lost" | "unknown"> {
    const { client, clock, markerTopic, transactionTimeoutMs } = this.#options;
    const { epoch, unit, ledger } = context;
    const id = laneId(context);
    return await this.#persevere(context, async () => {
      const producer = new LaneProducer(client, clock, await client.initProducer(id, transactionTimeoutMs));
      const marker = await client.groupOffset(id, markerTopic);
      if (marker?.offset === epoch && marker.metadata === unit.token) return "committed";
      const isBehind = marker === undefined || marker.offset < epoch;
      if (isBehind && (await ledger.committed()) === epoch - 1)
        await producer
          .mark(id, markerTopic, { offset: epoch, metadata: abandonedToken })
          .then(() => producer.commit())
          .catch(() => {});
      // The epoch's own marker may have expired, or another be in its place.
      return marker && isBehind ? "lost" : await this.#lostUnlessOld(context);
    });
  }

  async #lostUnlessOld({ epoch, sink, ledger }: CommitContext<LaneUnit>): Promise<"lost" | "unknown"> {
    const decidedAt = await ledger.decidedAt(epoch);
    const { mostAgeMs } = await this.#options.limits(sink);
    return decidedAt !== undefined && this.#options.clock.now() - decidedAt <= mostAgeMs ? "lost" : "unknown";
  }

  /** Out of reach of everybody else, such as this commit's own twin: it comes back only when it has committed. */
  #takeWarm(context: CommitContext<LaneUnit>): LaneProducer | undefined {
    const id = laneId(context);
    const warm = this.#warm.get(id);
    this.#warm.delete(id);
    // Had another producer begun since, this one's first request would be refused. So the lane's marker is what it has left.
    return warm && warm.committed === context.unit.previous ? warm.producer : undefined;
  }

  async #persevere<T>(
    context: CommitContext<LaneUnit>,
    attempt: (tries: number, isLate: () => boolean) => Promise<T>,
  ): Promise<T> {
    const { clock, random, transactionTimeoutMs } = this.#options;
    try {
      return await persevere({ clock, random, patienceMs: (transactionTimeoutMs * 3) / 4, isWorthAnotherTry }, attempt);
    } catch (error) {
      throw commitFailed(error, context);
    }
  }

  /** A producer that may write the epoch. Undefined: there is nothing left to do. */
  async #fence(context: CommitContext<LaneUnit>, tries: number): Promise<LaneProducer | undefined> {
    const { client, clock, markerTopic, transactionTimeoutMs, limits } = this.#options;
    const { unit, ledger } = context;
    // Whoever failed because another committer began since must not end that one, if it is done.
    if (tries > 0 && !(await isWanted(context))) return undefined;
    const id = laneId(context);
    const identity = await client.initProducer(id, transactionTimeoutMs);
    // From here on no other producer of the lane can write, and what they have begun is over: only now is there anything to rely on.
    if (!(await isWanted(context))) return undefined;
    const marker = await client.groupOffset(id, markerTopic);
    const topicId = async () => (await client.topics([markerTopic]))[0]?.id;
    const question = { place: context, group: id, topic: markerTopic, unit, marker, ledger, clock, limits, topicId };
    const verdict = await judgeMarker(question);
    if (verdict instanceof LossError) throw verdict;
    return verdict === "committed" ? undefined : new LaneProducer(client, clock, identity);
  }

  /** @param thoroughly the try before may have failed because of what is staged: the broker does not say so for certain, and a loss must be told (I8) */
  async #publish(
    producer: LaneProducer,
    context: CommitContext<LaneUnit>,
    isLate: () => boolean,
    thoroughly: boolean,
  ): Promise<void> {
    const { epoch, unit } = context;
    let begun = false;
    const begin = async () => {
      await producer.begin(partitionsOf(unit));
      begun = true;
      // Nobody sees the marker before the transaction's end.
      await producer.mark(laneId(context), this.#options.markerTopic, { offset: epoch, metadata: unit.token });
    };
    try {
      for (const group of groupsOf(unit.staged)) {
        const staged = this.#readStaged(context, group, thoroughly);
        // What comes to a broker after an abort would begin another transaction: so both are over, whichever fails.
        const [{ batches, free }] = await allEnded([staged, begun || begin()]);
        await producer.send(batches);
        free();
        // Before the brokers' own time-out, which would look like a zombie's fencing.
        if (isLate()) throw late();
      }
    } catch (error) {
      if (begun && !isWorthAnotherTry(error)) await producer.abort().catch(() => {});
      throw error;
    }
    await producer.commit();
  }

  /** `free`: once all batches are acknowledged, their memory is used again; where they are not, a socket may still read it. */
  async #readStaged(context: CommitContext<LaneUnit>, ranges: readonly StagedRange[], thoroughly: boolean) {
    const memory = this.#memory.take(ranges.reduce((sum, { bytes }) => sum + bytes, 0));
    let used = 0;
    const reading = ranges.map((range) => {
      const into = memory.subarray(used, used + range.bytes);
      used += range.bytes;
      return readStaged(this.#options.objects, context, range, { into, thoroughly });
    });
    return { batches: (await Promise.all(reading)).flat(), free: () => this.#memory.give(memory) };
  }
}

function late(): InfrastructureError {
  return new InfrastructureError("kafka-commit-late", "it took longer than a transaction may", {
    wayOut: "It is tried again. If this goes on, make epochs smaller, or give the sink more `lanes`.",
  });
}

async function isWanted({ ledger, epoch }: CommitContext): Promise<boolean> {
  return (await ledger.unit(epoch))?.status === "prepared";
}

function partitionsOf(unit: LaneUnit): TopicPartition[] {
  const partitions = new Map<string, TopicPartition>();
  for (const { topics } of unit.staged)
    for (const [topic, ofTopic] of topics)
      for (const [partition] of ofTopic) partitions.set(`${topic}/${partition}`, { topic, partition });
  return [...partitions.values()];
}

function groupsOf(ranges: readonly StagedRange[]): StagedRange[][] {
  const groups: StagedRange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const range of ranges) {
    bytes += range.bytes;
    if (bytes > groupBytes) {
      groups.push([]);
      bytes = range.bytes;
    }
    groups.at(-1)!.push(range);
  }
  return groups;
}
