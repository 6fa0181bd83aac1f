import { setTimeout as sleep } from "node:timers/promises";
import { checkOptions } from "../../options.ts";
import type { CommitUnit, Garbage, SinkContext, Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Compaction } from "../output/compaction.ts";
import { LedgerAge } from "../output/ledger-age.ts";
import { forAll } from "../output/limiter.ts";
import { directPath, lengthOf, manifestText } from "../output/manifest.ts";
import { baseOf, epochOfDirect, isMergedName, parseFinalName, type SinkOwner } from "../output/names.ts";
import { checkPrepared, type EpochContext, outputsOf, type StagedOutput } from "../output/prepared-files.ts";
import { sealEpoch } from "../output/sealing.ts";
import { missing, taken } from "../output/sink-errors.ts";
import { compactionOf, layoutOf, type OutputOptions, outputOptionNames } from "../output/sink-options.ts";
import { type Layout, StagedRows } from "../output/staged-rows.ts";
import { tidy } from "../output/tidying.ts";
import { BucketStore } from "./bucket-store.ts";
import { checkLifecycle } from "./lifecycle.ts";
import { abortUpload, completeUpload, isNoSuchUpload } from "./multipart.ts";
import { OutputPlace, type S3PlaceOptions } from "./output-place.ts";
import { claimOutput, ForeignOutputs, isOwner } from "./owner-mark.ts";
import { checkUploads, type PreparedUploads, type Upload } from "./prepared-upload.ts";
import { StagedUploads, stagedMetadata } from "./staged-upload.ts";

export interface S3SinkOptions extends S3PlaceOptions, OutputOptions {}

/** How long an upload may be gone before its object is there: another completion of it may be under way, and S3 may take minutes for that. */
const completionPatienceMs = 180_000;
const pollMs = 2_000;
/** An upload says nothing of its attempt: it is garbage only once its epoch is committed. */
const noAttempt = Number.MAX_SAFE_INTEGER;
/** Files of a unit that are published at once. */
const publishedAtOnce = 16;
/** An upload of merged files says nothing of an epoch either; whoever makes it has no more than the minutes of a function. */
const mergingMs = 3_600_000;

/**
 * Rows in files of a bucket (protocol §9, Files): one or more for each epoch, stage and task, each a multipart upload until the commit completes it, whole and
 * at once; and a manifest for each epoch. `readRows` of `reader.ts` reads them.
 *
 * @throws UsageError for a wrong option
 */
export function createS3FilesSink(
  options: S3SinkOptions,
  patienceMs = completionPatienceMs,
): TwoPhaseCommitSink<unknown, PreparedUploads, PreparedUploads> {
  checkOptions("files.sink()", options, ["client", "bucket", "prefix", ...outputOptionNames]);
  return new S3FilesSink(options, patienceMs);
}

class S3FilesSink implements TwoPhaseCommitSink<unknown, PreparedUploads, PreparedUploads> {
  readonly #place: OutputPlace;
  readonly #patienceMs: number;
  readonly #store: BucketStore;
  readonly #rows: Layout;
  readonly #compaction: Compaction | undefined;
  #lifecycleIsFine = false;

  readonly #age = new LedgerAge();

  constructor({ client, bucket, prefix, ...output }: S3SinkOptions, patienceMs: number) {
    this.#place = new OutputPlace("files.sink()", { client, bucket, prefix });
    this.#store = new BucketStore(this.#place);
    this.#rows = layoutOf(output);
    this.#compaction = compactionOf(output);
    this.#patienceMs = patienceMs;
  }

  async open(owner: SinkOwner & { decided?: number }): Promise<void> {
    if (!this.#lifecycleIsFine) await checkLifecycle(this.#place);
    this.#lifecycleIsFine = true;
    await claimOutput(this.#place, owner);
    await this.#age.check(owner, this.#place.url, () => this.#store.manifests());
  }

  async begin(context: SinkContext): Promise<StagedRows<Upload>> {
    return new StagedRows(this.#rows, context, new StagedUploads(this.#place, context));
  }

  async preCommit(transaction: Transaction): Promise<PreparedUploads | undefined> {
    return await finish(transaction);
  }

  /** Under keys of the invocation's own; a manifest of its own names them. */
  async publish(transaction: Transaction): Promise<void> {
    const prepared = await finish(transaction);
    if (prepared === undefined) return;
    const { bucket } = this.#place;
    const { context } = transaction as StagedRows<Upload>;
    await forAll(prepared.files, publishedAtOnce, async ({ file, upload, parts }) => {
      const key = this.#place.keyOf(file);
      await bucket.named("publish", key, () => completeUpload(bucket, key, upload, parts, { exclusive: false }));
    });
    const text = manifestText({ epoch: context.epoch, files: prepared.files });
    await this.#store.create(directPath(context), [Buffer.from(text)]);
  }

  async commit(context: EpochContext & { unit: PreparedUploads }): Promise<void> {
    const files = checkUploads(checkPrepared(context, context.unit));
    await forAll(files, publishedAtOnce, (file) => this.#publish(context, file));
  }

  async abort(prepared: PreparedUploads): Promise<void> {
    const files = checkUploads(outputsOf(prepared));
    await forAll(files, publishedAtOnce, ({ file, upload }) =>
      abortUpload(this.#place.bucket, this.#place.keyOf(file), upload),
    );
  }

  async seal(context: EpochContext & { units: readonly CommitUnit<PreparedUploads>[] }): Promise<void> {
    const files = context.units.flatMap(({ unit }) => checkUploads(checkPrepared(context, unit)));
    await sealEpoch(this.#store, context, context.epoch, files);
  }

  async sweep(owner: SinkOwner, garbage: Garbage): Promise<number> {
    const { bucket, prefix } = this.#place;
    if (!(await isOwner(this.#place, owner))) return 0;
    const foreign = new ForeignOutputs(this.#place);
    let ended = 0;
    for await (const { key, upload, startedAt } of bucket.uploads(prefix)) {
      const name = baseOf(key);
      const epoch = parseFinalName(name)?.epoch ?? epochOfDirect(name);
      const isOld = epoch !== undefined && garbage({ epoch, attempt: noAttempt });
      const isLeft = isMergedName(name) && Date.now() - startedAt > mergingMs;
      if ((!isOld && !isLeft) || (await foreign.has(key))) continue;
      await abortUpload(bucket, key, upload);
      ended++;
    }
    return ended;
  }

  async tidy(owner: SinkOwner, time: { committed: number; now: number }): Promise<number> {
    return (await isOwner(this.#place, owner)) ? await tidy(this.#store, this.#compaction, time) : 0;
  }

  async close(): Promise<void> {}

  /** Looks first, so that nothing of anybody is overwritten: commits of one sink are serial under the owner mark, and zombies bring the same upload. */
  async #publish(context: EpochContext, file: StagedOutput<Upload>): Promise<void> {
    const { bucket } = this.#place;
    const key = this.#place.keyOf(file.file);
    if (await this.#isPublished(context, key, file)) return;
    try {
      await completeUpload(bucket, key, file.upload, file.parts, { exclusive: false });
    } catch (error) {
      if (!isNoSuchUpload(error)) throw bucket.error(error, "publish", key);
      await this.#untilPublished(context, key, file);
    }
  }

  /** @throws LossError `output-name-taken` if another object is there */
  async #isPublished(context: EpochContext, key: string, file: StagedOutput): Promise<boolean> {
    const { bucket } = this.#place;
    const found = await bucket.head(key);
    if (found === undefined) return false;
    const end = lengthOf(file);
    if (found.bytes === end) {
      if (found.metadata[stagedMetadata] === file.staged) return true;
      // A copy, say from a backup, may have lost its metadata.
      if ((await bucket.digestOf(key, { start: file.offset ?? 0, end })) === file.digest) return true;
    }
    throw taken(context, bucket.urlOf(key));
  }

  async #untilPublished(context: EpochContext, key: string, file: StagedOutput<Upload>): Promise<void> {
    const giveUpAt = performance.now() + this.#patienceMs;
    while (!(await this.#isPublished(context, key, file))) {
      if (performance.now() > giveUpAt)
        throw missing(context, `the upload ${file.upload}`, this.#place.bucket.urlOf(key));
      await sleep(Math.min(pollMs, this.#patienceMs));
    }
  }
}

async function finish(transaction: Transaction): Promise<PreparedUploads | undefined> {
  if (!(transaction instanceof StagedRows)) throw new TypeError("the transaction is not one of this sink");
  try {
    return await transaction.finish();
  } catch (error) {
    await transaction.discard();
    throw error;
  }
}
