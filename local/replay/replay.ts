import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { kafkaConnector } from "../../composition/kafka.ts";
import { isS3Path } from "../../composition/s3-path.ts";
import { makeFolder } from "../../shared/adapters/filesystem/durable.ts";
import { FileSystemObjectStore } from "../../shared/adapters/filesystem/object-store.ts";
import { LeaseLock } from "../../shared/adapters/sqlite/lease-lock.ts";
import { ReplayJournal } from "../../shared/adapters/sqlite/replay-journal.ts";
import { digest } from "../../shared/epoch/digest.ts";
import { UsageError } from "../../shared/errors.ts";
import type { TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import { identityOf } from "./identity.ts";
import type { FailedRecord } from "./letter.ts";
import { createLinesSink } from "./lines-sink.ts";
import type { Place, Places, Target } from "./places.ts";
import { type LetterFilter, lettersOf, type Selection, select } from "./select.ts";
import { topicSettings } from "./topic-settings.ts";
import { BatchCommitter } from "./two-phase.ts";

/** What is put back at once: in one transaction, or one file. */
const batchRecords = 1000;
const batchBytes = 4 * 1024 * 1024;

/** A record that its target does not take; the next replay tries it again. */
export interface Refusal {
  readonly record: FailedRecord;
  readonly reason: string;
}

export interface Replayed {
  readonly records: number;
  /** Batches that a process which died had decided, and which were put back first. */
  readonly recovered: number;
  readonly refused: readonly Refusal[];
}

/** What there is to do; `unfinished`: batches that were decided by a replay which ended before it could put them back. */
export interface Outlook extends Selection {
  readonly unfinished: number;
}

/** One target: its place, and where the replay's state for it lies. */
interface Way {
  readonly place: Place;
  readonly uid: string;
  readonly folder: string;
  readonly journal: string;
}

/** Puts the records of dead letters back, each once, however often this is killed and run again: what was put back is remembered in a state folder. */
export class Replay {
  readonly #places: Places;
  readonly #filter: LetterFilter;
  readonly #state: string;
  readonly #ways = new Map<string, Way>();

  /** @param state folder of what is remembered; `.epochflow/replays` by default. @throws UsageError `replay-target` */
  constructor(places: Places, filter: LetterFilter, state: string | undefined) {
    if (places.to.kind === "folder" && isS3Path(places.to.path))
      throw new UsageError("replay-target", "Records cannot be put back into a bucket from here", {
        wayOut: "Put them into a folder, and copy its files: --to FOLDER, then `aws s3 cp`.",
      });
    this.#places = places;
    this.#filter = filter;
    this.#state = resolve(state ?? join(".epochflow", "replays"));
  }

  /** What there is to do. Changes nothing. */
  async look(): Promise<Outlook> {
    const journals = new Map<string, ReplayJournal | undefined>();
    try {
      const selection = await select(lettersOf(this.#places.from, this.#filter), async (record) => {
        const target = this.#targetOf(record);
        if (target === undefined) return "elsewhere";
        const { journal } = await this.#wayTo(target);
        if (!journals.has(journal))
          journals.set(journal, existsSync(journal) ? ReplayJournal.open(journal) : undefined);
        return journals.get(journal)?.has(record.id) ? "done" : "to do";
      });
      const open = [...journals.values()].map((journal) => journal && journal.last() - journal.lastCommitted());
      return { ...selection, unfinished: open.reduce<number>((sum, batches) => sum + (batches ?? 0), 0) };
    } finally {
      for (const journal of journals.values()) journal?.[Symbol.dispose]();
    }
  }

  /** @param onProgress gets how many records have been put back so far */
  async run({ topics }: Selection, onProgress: (records: number) => void): Promise<Replayed> {
    let [records, recovered] = [0, 0];
    const refused: Refusal[] = [];
    for (const place of this.#targets(topics)) {
      const way = await this.#wayTo(place);
      const done = await this.#into(way, refused, (count) => onProgress(records + count));
      records += done.records;
      recovered += done.recovered;
    }
    return { records, recovered, refused };
  }

  /** Where it is remembered what was put back. */
  async states({ topics }: Selection): Promise<string[]> {
    return await Promise.all(this.#targets(topics).map(async (place) => (await this.#wayTo(place)).folder));
  }

  async #into(way: Way, refused: Refusal[], onProgress: (records: number) => void) {
    await makeFolder(way.folder);
    using _lock = lockOf(way.folder);
    using journal = ReplayJournal.open(way.journal);
    const objects = join(way.folder, "objects");
    await using target = sinkFor(way.place, new FileSystemObjectStore(objects));
    const committer = new BatchCommitter(journal, target.sink, { pipeline: "replay", uid: way.uid, sink: "records" });
    const recovered = await committer.open();
    let records = 0;
    for await (const batch of this.#batches(way.place, journal)) {
      records += await committer.put(batch, (record, error) => refused.push({ record, reason: error.message }));
      onProgress(records);
    }
    // All is committed: nobody needs what was staged.
    await rm(objects, { recursive: true, force: true });
    return { records, recovered };
  }

  /** The records for a target that were not put back before: each once, however many letters it has. */
  async *#batches(target: Place, journal: ReplayJournal): AsyncGenerator<FailedRecord[]> {
    const seen = new Set<string>();
    let batch: FailedRecord[] = [];
    let bytes = 0;
    for await (const { record } of lettersOf(this.#places.from, this.#filter)) {
      if ("missing" in record || seen.has(record.id) || journal.has(record.id)) continue;
      if (nameOf(this.#targetOf(record)) !== nameOf(target)) continue;
      seen.add(record.id);
      batch.push(record);
      bytes += record.value?.length ?? 0;
      if (batch.length < batchRecords && bytes < batchBytes) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  #targetOf({ topic }: FailedRecord): Place | undefined {
    const { to } = this.#places;
    if (to.kind !== "origin") return to;
    return topic === undefined ? undefined : topicPlace(to, topic);
  }

  #targets(topics: readonly string[]): Place[] {
    const { to } = this.#places;
    return to.kind === "origin" ? topics.map((topic) => topicPlace(to, topic)) : [to];
  }

  /**
   * By the identity of the two places alone: so whoever has lost the journal meets the transactional id, or the files, of the replay that it was of, and is told.
   */
  async #wayTo(place: Place): Promise<Way> {
    const known = this.#ways.get(nameOf(place));
    if (known !== undefined) return known;
    const uid = digest([await identityOf(this.#places.from), await identityOf(place)]).slice(0, 16);
    const folder = join(this.#state, uid);
    const way = { place, uid, folder, journal: join(folder, "journal.db") };
    this.#ways.set(nameOf(place), way);
    return way;
  }
}

function lockOf(folder: string): Disposable {
  const lock = LeaseLock.tryAcquire(join(folder, "lease.db"));
  if (lock !== undefined) return { [Symbol.dispose]: () => lock.release() };
  throw new UsageError("state-in-use", `Another replay is at work on ${folder}`, { wayOut: "Wait for it to end." });
}

const topicPlace = ({ connection }: Extract<Target, { kind: "origin" }>, topic: string): Place => ({
  kind: "topic",
  topic,
  connection,
});

/** Within one replay. */
const nameOf = (place: Place | undefined) => (place?.kind === "topic" ? `topic:${place.topic}` : (place?.path ?? ""));

interface OpenSink extends AsyncDisposable {
  readonly sink: TwoPhaseCommitSink<FailedRecord>;
}

function sinkFor(target: Place, objects: FileSystemObjectStore): OpenSink {
  if (target.kind === "folder")
    return { sink: createLinesSink(target.path, objects) as never, [Symbol.asyncDispose]: async () => {} };
  const connector = kafkaConnector({ objects, bounded: true });
  const sink = connector.sink(topicSettings(target)) as TwoPhaseCommitSink<FailedRecord>;
  return { sink, [Symbol.asyncDispose]: () => connector.close() };
}
