import type { KnownPartition, PartitionStatus } from "../../ports/source.ts";
import { finishedRecord, rememberedMs, splitFinished } from "../lines/finished.ts";
import { edited } from "../lines/input-errors.ts";
import { lastLineEnd } from "../lines/lines.ts";
import { partitionId } from "../lines/partition-id.ts";
import { type Contents, using } from "./contents.ts";
import { packFinished, unpackFinished } from "./finished-files.ts";
import { type FoundFile, identify, isEdited } from "./found-file.ts";
import { type FileIdentity, isDone, type WantedFile, wantedFile } from "./identity.ts";
import type { InputFolder } from "./input-folder.ts";
import type { Locator, Survey } from "./locator.ts";
import { lookingAgain } from "./looking-again.ts";
import { checkUnedited, isNearTail } from "./unedited.ts";

export interface DiscoveryParts {
  readonly folder: InputFolder;
  readonly locator: Locator;
  readonly contents: Contents;
  /** A last line without an end is not waited for. */
  readonly bounded: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** So many files that were read to their end stay partitions, for people to see: those that changed last. */
  readonly finishedPartitions: number;
}

/** A file of the ledger, as it is now. */
interface Seen {
  readonly status: PartitionStatus & { readonly identity: FileIdentity };
  readonly position: number;
  /** When it changed last, or was missed first; epoch milliseconds. */
  readonly changedAt: number;
}

/** Which files there are, and what they are to the ledger's partitions. */
export class Discovery {
  readonly #parts: DiscoveryParts;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  /** @throws LossError if there is more to read of a known file, and it is not there, or not whole (I8) */
  async look(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    return await lookingAgain(() => this.#look(known));
  }

  async #look(all: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const { known, finished } = splitFinished(all);
    const ids = new Set(known.map(({ id }) => id));
    // What is a partition still is in the record already: the ledger leaves it out when it does not matter to the watermark any more.
    const wanted = [...known.map(wantedFile), ...unpackFinished(finished).filter(({ id }) => !ids.has(id))];
    // Where there was more to read, what is missing is a loss; else it may be that a wrong path was given.
    if (wanted.every(isDone)) await this.#parts.folder.checkExists(wanted.map(({ identity }) => identity.file));
    const survey = await this.#parts.locator.survey(wanted);
    const seen: Seen[] = [];
    for (const one of wanted) seen.push(await this.#known(one, survey));
    const { partitions, over } = this.#sort(seen, ids);
    const record = over.length > 0 || finished !== undefined ? [finishedRecord(packFinished(over))] : [];
    return [...partitions, ...record, ...(await this.#new(survey, wanted))];
  }

  /** What are partitions, and those files that the record takes over from them. */
  #sort(all: readonly Seen[], known: ReadonlySet<string>) {
    const finished = all.filter(isFinished);
    const latest = finished.filter(({ status }) => known.has(status.id));
    latest.sort((one, other) => other.changedAt - one.changedAt);
    const shown = new Set(latest.slice(0, this.#parts.finishedPartitions));
    const recorded = new Set(finished.filter((one) => !shown.has(one)));
    const partitions = all.flatMap((one): PartitionStatus[] => {
      const { status, position } = one;
      if (known.has(status.id)) return [recorded.has(one) ? { ...status, isOver: true } : status];
      return recorded.has(one) ? [] : [{ ...status, start: position }];
    });
    // What has been away for long is over in itself.
    const over = [...recorded].filter(({ status }) => !status.isOver);
    return { partitions, over: over.map(({ status: { id, identity }, position }) => ({ id, identity, position })) };
  }

  async #new({ located, found }: Survey, wanted: readonly WantedFile[]): Promise<PartitionStatus[]> {
    const old = new Set(located.values());
    const taken = new Set(wanted.map(({ id }) => id));
    const partitions: PartitionStatus[] = [];
    for (const file of found) {
      if (old.has(file)) continue;
      const id = partitionId(file.file, taken);
      taken.add(id);
      partitions.push(await this.#status(id, file));
    }
    return partitions;
  }

  async #known(wanted: WantedFile, { located, found }: Survey): Promise<Seen> {
    const { id, identity, position } = wanted;
    const file = located.get(wanted);
    if (file !== undefined && (file.size >= identity.seen || identity.unmeasured)) {
      if (!file.packed && !isNearTail(wanted))
        await using(this.#parts.contents.open(file), (input) => checkUnedited(input, wanted));
      return { status: await this.#status(id, file, wanted), position, changedAt: file.changedAt };
    }
    const changed = found.find((one) => isEdited(one, identity));
    if (changed !== undefined) throw edited(changed.path, identity.seen);
    if (file === undefined && isDone(wanted)) return this.#gone(wanted, found);
    throw await this.#parts.locator.loss(wanted, { read: position, needed: identity.seen }, found);
  }

  /** A file that was read to its end. Where nothing is found at all, it is rather the folder that has gone. */
  #gone({ id, identity, position }: WantedFile, found: readonly FoundFile[]): Seen {
    const now = this.#parts.now();
    const { gone = now, ...others } = identity;
    const isOver = found.length > 0 && now - gone >= rememberedMs;
    const kept: FileIdentity = found.length > 0 ? { ...others, gone } : others;
    const ends = { start: 0, end: position, high: position };
    return { status: { id, identity: kept, ...ends, ...(isOver && { isOver }) }, position, changedAt: gone };
  }

  async #status(id: string, file: FoundFile, known?: WantedFile): Promise<Seen["status"]> {
    const position = known?.position ?? 0;
    const identity = identify(file, known);
    if (file.unmeasured) return { id, identity, start: 0, end: position, high: position + file.size };
    const isWhole = this.#parts.bounded || file.packed !== undefined || file.size === position;
    const end = isWhole ? file.size : await this.#lastLineEnd(file, position);
    return { id, identity, start: 0, end, high: end };
  }

  #lastLineEnd(found: FoundFile, position: number): Promise<number> {
    return using(this.#parts.contents.open(found), (file) => lastLineEnd(file, { from: position, to: found.size }));
  }
}

/** Read to where it ends now, and nothing of it waits for more. */
function isFinished({ status: { identity, high }, position }: Seen): boolean {
  return high === position && identity.seen === position && !identity.unmeasured && identity.tail !== undefined;
}

/** It may be otherwise a moment later. */
