/** Names of what files sinks write, wherever that is (protocol §1, §9). */
import { createHash } from "node:crypto";
import type { SinkContext } from "../../ports/sink.ts";

/** Digits of an epoch in names, so that they sort by it. */
export const epochDigits = 12;
const taskDigits = 4;
const longestPart = 60;
/** Things that belong to an epoch but to no attempt of it: garbage only once the epoch is committed. */
const noAttempt = Number.MAX_SAFE_INTEGER;

export interface SinkOwner {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
}

/** The part of a staged file's name that says whose it is. */
export function ownerName({ pipeline, uid, sink }: SinkOwner): string {
  return [pipeline, uid, sink].map(encodePart).join(".");
}

/** What the names of an invocation's staged files begin with (protocol §1, Names): no two invocations ever have the same. */
export function stagedName(context: SinkContext): string {
  const { epoch, attempt, stage, task, nonce } = context;
  return `${ownerName(context)}.${epoch}.${attempt}.${stage}.${task}.${encodePart(nonce)}`;
}

/** Name of one of an invocation's staged files. */
export function stagedFileName(staged: string, number: number): string {
  return `${staged}.${number}`;
}

/** Prefix of temporary files of an epoch's manifest. */
export function sealPrefix(owner: SinkOwner, epoch: number): string {
  return `${ownerName(owner)}.${epoch}.seal`;
}

interface TaskName {
  readonly epoch: number;
  readonly stage: number;
  readonly task: number;
}

/**
 * Name of a published file; in the order of their names, the files of a folder give an epoch's rows in the order of stages, tasks and rows.
 *
 * @param number of the file, where a task has several in one folder, from 0
 */
export function finalName({ epoch, stage, task }: TaskName, number: number, extension: string): string {
  // An underscore is behind a dot: so the first one, which has none, comes first.
  const rolled = number === 0 ? "" : `_${padded(number, taskDigits)}`;
  return `part-${padded(epoch, epochDigits)}-${stage}-${padded(task, taskDigits)}${rolled}.${extension}`;
}

const published = /^part-(\d{12})-(\d+)-(\d{4,})(?:_\d{4,})?\.[a-z0-9]+(?:\.gz|\.zst)?$/;

/** Of which epoch, stage and task a published file is; undefined for other names. */
export function parseFinalName(name: string): TaskName | undefined {
  const [, epoch, stage, task] = published.exec(name) ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), stage: Number(stage), task: Number(task) };
}

/** What the names of files begin with that were published without a second phase. */
const directPrefix = "direct-";
const part = "[a-z0-9_%-]+";
const direct = new RegExp(`^${directPrefix}(\\d{12})-\\d+-\\d{4,}-\\d+-${part}\\.[a-z0-9]+(?:\\.gz|\\.zst)?$`);

/** Name of such a file: each invocation's own, so that none takes another's place. */
export function directName(context: SinkContext, number: number, extension: string): string {
  const { epoch, stage, task, attempt, nonce } = context;
  const place = `${padded(epoch, epochDigits)}-${stage}-${padded(task, taskDigits)}`;
  return `${directPrefix}${place}-${attempt}-${encodePart(nonce)}_${padded(number, taskDigits)}.${extension}`;
}

/** The epoch of such a file; undefined for any other. */
export function epochOfDirect(name: string): number | undefined {
  const [, epoch] = direct.exec(name) ?? [];
  return epoch === undefined ? undefined : Number(epoch);
}

/** What the names of an invocation's files have in common, and that of their manifest, and no other invocation's have. */
export function invocationOfDirect(name: string): string {
  return name.slice(0, name.lastIndexOf("_"));
}

const directIndex = new RegExp(`^${directPrefix}(\\d{12})-(\\d{12})\\.jsonl$`);

/** Name of an index of manifests of such files. */
export function directIndexName(first: number, last: number): string {
  return `${directPrefix}${padded(first, epochDigits)}-${padded(last, epochDigits)}.jsonl`;
}

/** The epochs of such an index; undefined for other names. */
export function rangeOfDirectIndex(name: string): { first: number; last: number } | undefined {
  const [, first, last] = directIndex.exec(name) ?? [];
  return last === undefined ? undefined : { first: Number(first), last: Number(last) };
}

const merged = /^part-\d{12}-\d{12}(?:_\d{4,})?\.[a-z0-9]+(?:\.gz|\.zst)?$/;

/** Name of a file into which the files of several epochs were merged. */
export function mergedName(first: number, last: number, number: number, extension: string): string {
  const several = number === 0 ? "" : `_${padded(number, taskDigits)}`;
  return `part-${padded(first, epochDigits)}-${padded(last, epochDigits)}${several}.${extension}`;
}

export function isMergedName(name: string): boolean {
  return merged.test(name);
}

/** Whether a name is one of a file with rows. */
export function isDataName(name: string): boolean {
  return published.test(name) || merged.test(name) || direct.test(name);
}

/** What follows the first dot of a name. */
export function extensionOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/** Whether a path of the ledger or of a manifest stays in the output: relative, and nothing in it is hidden, or leads up. */
export function isWithin(path: string): boolean {
  return path.split("/").every((part) => part !== "" && !part.startsWith(".") && !/[\\\0]/.test(part));
}

/** The last part of a path in an output. */
export function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}

export interface StagedFileName {
  readonly owner: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly stage: number;
  readonly task: number;
}

/** With the number of a file, without one, or as names were when a task had one file. */
const staged = new RegExp(
  `^(${part}\\.${part}\\.${part})\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.${part}(?:\\.\\d+|\\.jsonl)?$`,
);
const sealing = new RegExp(`^(${part}\\.${part}\\.${part})\\.(\\d+)\\.seal\\.[0-9a-f-]+$`);

/** Reads a name that `stagedName` made; undefined for any other, so that one with a separator never gets through. */
export function parseStagedName(name: string): StagedFileName | undefined {
  const [, owner, epoch, attempt, stage, task] = staged.exec(name) ?? [];
  if (owner === undefined) return undefined;
  return { owner, epoch: Number(epoch), attempt: Number(attempt), stage: Number(stage), task: Number(task) };
}

/** Whose a file in the staging folder is, of which epoch and attempt; undefined if it is not ours. */
export function parseStagingEntry(name: string): Omit<StagedFileName, "stage" | "task"> | undefined {
  const [, owner, epoch] = sealing.exec(name) ?? [];
  return owner === undefined ? parseStagedName(name) : { owner, epoch: Number(epoch), attempt: noAttempt };
}

/** Percent-encodes injectively, capital letters included, since some file systems ignore case; a long part ends in a hash. */
function encodePart(text: string): string {
  const encoded = text.replace(/[^a-z0-9_-]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  if (encoded.length <= longestPart) return encoded === "" ? "%" : encoded;
  const hash = createHash("sha256").update(encoded).digest("hex").slice(0, 32);
  return `${encoded.slice(0, longestPart - hash.length - 1)}%${hash}`;
}
