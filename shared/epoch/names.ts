/**
 * Names of what lies outside the ledger (protocol §1): by pipeline, uid, epoch, attempt, stage, task and nonce, so that no two invocations ever
 * write the same name, and rights can be given by prefix.
 */

const epochDigits = 12;

export interface InvocationName {
  readonly pipeline: string;
  readonly uid: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly stage: number;
  readonly task: number;
  readonly nonce: string;
}

/** Prefix of all objects of one ledger. */
export function objectPrefix(pipeline: string, uid: string): string {
  return `${pipeline}/${uid}/`;
}

export function objectKey(name: InvocationName, kind: "snapshot" | "shuffle" | "staged"): string {
  const epoch = String(name.epoch).padStart(epochDigits, "0");
  const { pipeline, uid, attempt, stage, task, nonce } = name;
  return `${objectPrefix(pipeline, uid)}${epoch}-${attempt}-${stage}-${task}-${nonce}.${kind}`;
}

/** Epoch and attempt of a key that `objectKey` made; undefined for a foreign one. */
export function parseObjectKey(key: string): { epoch: number; attempt: number } | undefined {
  const match = /^[^/]+\/[^/]+\/(\d+)-(\d+)-\d+-\d+-[^/]+$/.exec(key);
  return match ? { epoch: Number(match[1]), attempt: Number(match[2]) } : undefined;
}

/** Name of a run of the state machine, at most 80 characters. */
export function executionName(pipeline: string, uid: string, run: number): string {
  return `${pipeline}-${uid}-${run}`;
}

/** Run number of an execution's name; undefined if it is not one of this ledger's. */
export function runOf(pipeline: string, uid: string, name: string): number | undefined {
  const prefix = `${pipeline}-${uid}-`;
  const run = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^[1-9]\d*$/.test(run) ? Number(run) : undefined;
}
