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

/** Name of a staged file (protocol §1, Names): no two invocations ever write the same. */
export function stagedName(context: SinkContext): string {
  const { epoch, attempt, stage, task, nonce } = context;
  return `${ownerName(context)}.${epoch}.${attempt}.${stage}.${task}.${encodePart(nonce)}.jsonl`;
}

/** Prefix of temporary files of an epoch's manifest. */
export function sealPrefix(owner: SinkOwner, epoch: number): string {
  return `${ownerName(owner)}.${epoch}.seal`;
}

interface TaskPlace {
  readonly epoch: number;
  readonly stage: number;
  readonly task: number;
}

/** Name of a committed file; in the order of their names, files give an epoch's rows in the order of stages and tasks. */
export function finalName(place: TaskPlace): string {
  return `part-${placed(place)}.jsonl`;
}

const placed = ({ epoch, stage, task }: TaskPlace): string =>
  `${padded(epoch, epochDigits)}-${stage}-${padded(task, taskDigits)}`;

/** What the names of files begin with that no manifest names, since they were published without a second phase. */
export const directPrefix = "direct-";

/** Name of such a file: each invocation's own, so that none takes another's place. */
export function directName(context: SinkContext): string {
  return `${directPrefix}${placed(context)}-${context.attempt}-${encodePart(context.nonce)}.jsonl`;
}

/** The epoch of such a file; undefined for any other. */
export function epochOfDirect(name: string): number | undefined {
  const [, epoch] = direct.exec(name) ?? [];
  return epoch === undefined ? undefined : Number(epoch);
}

export function isFinalName(name: string): boolean {
  return /^part-\d{12}-\d+-\d{4,}\.jsonl$/.test(name);
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

const part = "[a-z0-9_%-]+";
const staged = new RegExp(`^(${part}\\.${part}\\.${part})\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.${part}\\.jsonl$`);
const direct = new RegExp(`^${directPrefix}(\\d{12})-\\d+-\\d{4,}-\\d+-${part}\\.jsonl$`);
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
