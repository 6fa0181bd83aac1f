import { setTimeout as sleep } from "node:timers/promises";
import type { CommitUnit, Garbage, SinkContext, Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import {
  directPrefix,
  epochOfDirect,
  finalName,
  isFinalName,
  parseStagedName,
  type SinkOwner,
} from "../output/names.ts";
import type { EpochContext } from "../output/prepared-file.ts";
import { missing, taken } from "../output/sink-errors.ts";
import { checkLifecycle } from "./lifecycle.ts";
import { abortUpload, completeUpload, isNoSuchUpload } from "./multipart.ts";
import { OutputPlace, type S3OutputOptions } from "./output-place.ts";
import { claimOutput, isOwner } from "./owner-mark.ts";
import { checkPreparedUpload, checkUpload, type PreparedUpload } from "./prepared-upload.ts";
import { rollManifests, sealEpoch } from "./seal.ts";
import { StagedUpload, stagedMetadata } from "./staged-upload.ts";

/** How long an upload may be gone before its object is there: another completion of it may be under way, and S3 may take minutes for that. */
const completionPatienceMs = 180_000;
const pollMs = 2_000;
/** An upload says nothing of its attempt: it is garbage only once its epoch is committed. */
const noAttempt = Number.MAX_SAFE_INTEGER;

/**
 * Rows as JSON Lines in a bucket (protocol §9, Files): a file for each epoch, stage and task, which is a multipart upload until the commit completes it, whole and
 * at once; and a manifest for each epoch. `readRows` of `reader.ts` reads them.
 *
 * @throws UsageError for a wrong option
 */
export function createS3FilesSink(
  options: S3OutputOptions,
  patienceMs = completionPatienceMs,
): TwoPhaseCommitSink<unknown, PreparedUpload, PreparedUpload> {
  return new S3FilesSink(new OutputPlace("files.sink()", options), patienceMs);
}

class S3FilesSink implements TwoPhaseCommitSink<unknown, PreparedUpload, PreparedUpload> {
  readonly #place: OutputPlace;
  readonly #patienceMs: number;
  #lifecycleIsFine = false;
  /** From this epoch on there may be manifests to roll up. */
  #rollFrom = 0;

  constructor(place: OutputPlace, patienceMs: number) {
    this.#place = place;
    this.#patienceMs = patienceMs;
  }

  async open(owner: SinkOwner): Promise<void> {
    if (!this.#lifecycleIsFine) await checkLifecycle(this.#place);
    this.#lifecycleIsFine = true;
    await claimOutput(this.#place, owner);
  }

  async begin(context: SinkContext): Promise<StagedUpload> {
    return new StagedUpload(this.#place, context);
  }

  async preCommit(transaction: Transaction): Promise<PreparedUpload | undefined> {
    return await finish(transaction);
  }

  /** Under a key of the invocation's own, which no manifest names: readers look for it by its kind. */
  async publish(transaction: Transaction): Promise<void> {
    const prepared = await finish(transaction);
    if (prepared === undefined) return;
    const { bucket } = this.#place;
    const key = this.#place.keyOf(prepared.file);
    try {
      await completeUpload(bucket, key, prepared.upload, prepared.parts, { exclusive: false });
    } catch (error) {
      throw bucket.error(error, "publish", key);
    }
  }

  /** Looks first, so that nothing of anybody is overwritten: commits of one sink are serial under the owner mark, and zombies bring the same upload. */
  async commit(context: EpochContext & { unit: PreparedUpload }): Promise<void> {
    const prepared = checkPreparedUpload(context, context.unit);
    const { bucket } = this.#place;
    const key = this.#place.keyOf(prepared.file);
    if (await this.#isPublished(context, key, prepared)) return;
    try {
      await completeUpload(bucket, key, prepared.upload, prepared.parts, { exclusive: false });
    } catch (error) {
      if (!isNoSuchUpload(error)) throw bucket.error(error, "publish", key);
      await this.#untilPublished(context, key, prepared);
    }
  }

  async abort(prepared: PreparedUpload): Promise<void> {
    const { staged, upload } = checkUpload(prepared);
    const name = parseStagedName(String(staged));
    if (name !== undefined) await abortUpload(this.#place.bucket, this.#place.keyOf(finalName(name)), upload);
  }

  async seal(context: EpochContext & { units: readonly CommitUnit<PreparedUpload>[] }): Promise<void> {
    const files = context.units.map(({ unit }) => checkPreparedUpload(context, unit));
    await sealEpoch(this.#place, context, context.epoch, files);
    if (context.epoch < this.#rollFrom) return;
    this.#rollFrom = await rollManifests(this.#place, context.epoch);
  }

  async sweep(owner: SinkOwner, garbage: Garbage): Promise<number> {
    const { bucket, prefix } = this.#place;
    if (!(await isOwner(this.#place, owner))) return 0;
    let ended = 0;
    for (const kind of ["part-", directPrefix])
      for await (const { key, upload } of bucket.uploads(prefix + kind)) {
        const file = key.slice(prefix.length);
        const isOurs = isFinalName(file) || epochOfDirect(file) !== undefined;
        if (!isOurs || !garbage({ epoch: Number(file.split("-")[1]), attempt: noAttempt })) continue;
        await abortUpload(bucket, key, upload);
        ended++;
      }
    return ended;
  }

  async close(): Promise<void> {}

  /** @throws LossError `output-name-taken` if another object is there */
  async #isPublished(context: EpochContext, key: string, prepared: PreparedUpload): Promise<boolean> {
    const { bucket } = this.#place;
    const found = await bucket.head(key);
    if (found === undefined) return false;
    if (found.bytes === prepared.bytes) {
      if (found.metadata[stagedMetadata] === prepared.staged) return true;
      // A copy, say from a backup, may have lost its metadata.
      if ((await bucket.digestOf(key, prepared.bytes)) === prepared.digest) return true;
    }
    throw taken(context, bucket.urlOf(key));
  }

  async #untilPublished(context: EpochContext, key: string, prepared: PreparedUpload): Promise<void> {
    const giveUpAt = performance.now() + this.#patienceMs;
    while (!(await this.#isPublished(context, key, prepared))) {
      if (performance.now() > giveUpAt)
        throw missing(context, `the upload ${prepared.upload}`, this.#place.bucket.urlOf(key));
      await sleep(Math.min(pollMs, this.#patienceMs));
    }
  }
}

async function finish(transaction: Transaction): Promise<PreparedUpload | undefined> {
  if (!(transaction instanceof StagedUpload)) throw new TypeError("the transaction is not one of this sink");
  try {
    return await transaction.finish();
  } catch (error) {
    await transaction.discard();
    throw error;
  }
}
