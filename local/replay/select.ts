import { UsageError } from "../../shared/errors.ts";
import { type FailedRecord, type Letter, parseLetter } from "./letter.ts";
import { readLetters } from "./letters.ts";
import type { Place } from "./places.ts";

/** Which dead letters are meant; all of what is given must hold. */
export interface LetterFilter {
  /** Id of the operator that failed. */
  readonly operator?: string | undefined;
  /** A part of the error's text. */
  readonly error?: string | undefined;
  /** The record's own time is not before this, epoch milliseconds. Records of files have none. */
  readonly since?: number | undefined;
}

/** What there is to replay, counted. */
export interface Selection {
  /** Letters that the filter takes, by operator and error, most first. */
  readonly groups: readonly { readonly operator: string; readonly error: string; readonly letters: number }[];
  readonly letters: number;
  /** Records among them, each once; without those that were put back before. */
  readonly records: number;
  readonly before: number;
  /** Records that have failed again after they were put back, and how often at most. */
  readonly again: number;
  readonly mostReplays: number;
  /** Letters without a record to put back, by reason. */
  readonly missing: Readonly<Record<string, number>>;
  /** Topics of the records, where they are of Kafka. */
  readonly topics: readonly string[];
}

/** The letters that are meant, in their order. @throws UsageError `not-dead-letters` for rows that are none */
export async function* lettersOf(from: Place, filter: LetterFilter): AsyncGenerator<Letter> {
  for await (const text of readLetters(from)) {
    const letter = parseLetter(text);
    if (letter === undefined) {
      throw new UsageError("not-dead-letters", "There are rows that are no dead letters", {
        wayOut:
          "Name the folder or topic of the sink in `onError: deadLetter(sink)`; in Kafka its value must be json().",
      });
    }
    if (isMeant(letter, filter)) yield letter;
  }
}

function isMeant({ operator, error, record }: Letter, filter: LetterFilter): boolean {
  if (filter.operator !== undefined && operator !== filter.operator) return false;
  if (filter.error !== undefined && !error.includes(filter.error)) return false;
  if (filter.since === undefined || "missing" in record) return true;
  if (record.timestamp !== undefined) return record.timestamp >= filter.since;
  throw new UsageError("no-time", "Records of files have no time of their own, by which --since could choose", {
    wayOut: "Leave --since out.",
  });
}

/** Whether a record is to be put back, was put back before, or is of a source that the target has no place for. */
export type Standing = (record: FailedRecord) => Promise<"to do" | "done" | "elsewhere">;

const elsewhere = "it is no record of a topic: --to FOLDER puts it into a file";

export async function select(letters: AsyncIterable<Letter>, standing: Standing): Promise<Selection> {
  const groups = new Map<string, { operator: string; error: string; letters: number }>();
  const byStanding = { "to do": new Set<string>(), done: new Set<string>(), elsewhere: new Set<string>() };
  const [again, topics] = [new Set<string>(), new Set<string>()];
  const missing: Record<string, number> = {};
  const without = (reason: string) => {
    missing[reason] = (missing[reason] ?? 0) + 1;
  };
  let [count, mostReplays] = [0, 0];
  for await (const { operator, error, record } of letters) {
    count++;
    const name = JSON.stringify([operator, error]);
    const group = groups.get(name) ?? { operator, error, letters: 0 };
    group.letters++;
    groups.set(name, group);
    if ("missing" in record) {
      without(record.missing);
      continue;
    }
    const { id, topic, replays } = record;
    const now = await standing(record);
    byStanding[now].add(id);
    if (now === "elsewhere") without(elsewhere);
    if (topic !== undefined) topics.add(topic);
    if (replays > 0) again.add(id);
    mostReplays = Math.max(mostReplays, replays);
  }
  return {
    groups: [...groups.values()].sort((one, other) => other.letters - one.letters),
    ...{ letters: count, records: byStanding["to do"].size, before: byStanding.done.size },
    ...{ again: again.size, mostReplays, missing, topics: [...topics].sort() },
  };
}
