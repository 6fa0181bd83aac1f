import { digest } from "../../shared/epoch/digest.ts";
import type { DeadLetterBytes, DeadLetterRow } from "../../shared/pipeline/topology.ts";

/** Header of a record that was put back: how often so far. One that comes back as a dead letter again and again shows by it. */
export const replaysHeader = "epochflow.replays";
/** Beside it: which record it was put back for, `topic/partition@offset`. */
export const replayOfHeader = "epochflow.replay-of";

/** A record that failed, as its source had it. */
export interface FailedRecord {
  /** Of the place and of all bytes: letters of one record have one id, and a record that was put back has another. */
  readonly id: string;
  /** Of Kafka, where it lies; undefined for another source. */
  readonly topic: string | undefined;
  readonly partition: string;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[];
  /** Epoch milliseconds; undefined where the source has none. */
  readonly timestamp: number | undefined;
  /** How often it has been put back before. */
  readonly replays: number;
}

/** A dead letter as its sink has written it. */
export interface Letter {
  readonly operator: string;
  readonly error: string;
  /** The record to put back; or why there is none. */
  readonly record: FailedRecord | { readonly missing: string };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Undefined for what is no dead letter. */
export function parseLetter(text: string): Letter | undefined {
  const row = jsonOf(text);
  if (!isObject(row)) return undefined;
  const { error, operator, partition, offset } = row;
  const isLetter = typeof error === "string" && typeof operator === "string" && typeof partition === "string";
  if (!isLetter || !Number.isSafeInteger(offset)) return undefined;
  return { operator, error, record: recordOf(row as unknown as DeadLetterRow) };
}

function recordOf({ partition, offset, value, record }: DeadLetterRow): Letter["record"] {
  if (record === undefined) {
    const why = partition === "" ? "a row that an aggregate made" : "written by a version that kept no record";
    return { missing: `it is ${why}` };
  }
  if (record.truncated) return { missing: "it is too large for the source, and only its beginning was kept" };
  try {
    const headers = (record.headers ?? []).map(([name, one]) => [name, bytesOf(one)] as const);
    const parts = { key: bytesOf(record.key ?? null), value: bytesOf(value as DeadLetterBytes), headers };
    const id = digest([partition, offset, value, record]);
    const topic = record.source === "kafka" ? partition.slice(0, partition.lastIndexOf("/")) : undefined;
    return {
      id,
      topic,
      partition,
      offset,
      ...parts,
      timestamp: record.timestamp,
      replays: replaysOf(headers, partition),
    };
  } catch {
    return { missing: "it is damaged" };
  }
}

/** @throws TypeError for what is neither a text nor bytes */
function bytesOf(given: DeadLetterBytes): Buffer | null {
  if (given === null) return null;
  if (typeof given === "string") return Buffer.from(given);
  if (isObject(given) && typeof given.base64 === "string") return Buffer.from(given.base64, "base64");
  throw new TypeError("neither a text nor bytes");
}

/** Files have no headers: the name of a file that was put back tells. */
function replaysOf(headers: FailedRecord["headers"], partition: string): number {
  const header = headers.findLast(([name]) => name === replaysHeader)?.[1]?.toString();
  const [, file] = /(?:^|\/)replay-(\d+)-[^/]*$/.exec(partition) ?? [];
  const count = Number(header ?? file ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
