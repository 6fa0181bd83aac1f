import { createHash } from "node:crypto";
import { LossError } from "../../errors.ts";
import {
  type EpochRange,
  type Manifest,
  type ManifestFile,
  type ManifestSource,
  manifestLine,
  manifestsAmong,
  plansAmong,
  runPath,
  runPlanPath,
} from "./manifest.ts";
import { manifestsIn, Overtaken, readSource } from "./manifests.ts";
import { baseOf, extensionOf, isMergedName, mergedName } from "./names.ts";
import { lost } from "./reading.ts";
import { isDue } from "./rolling.ts";
import { textOf } from "./sealing.ts";
import type { WritableStore } from "./store.ts";

/** Which files are small, and when they are merged. */
export interface Compaction {
  /** Files below this are small; they are merged once those of a folder together have as many bytes. */
  readonly bytes: number;
  /** They are merged anyway once the oldest of them is so old, in milliseconds. */
  readonly ageMs: number;
  /** Milliseconds that replaced files stay, for readers that have read where they are. */
  readonly graceMs: number;
}

/** A run of epochs, whose small files are to be merged; `bytes` says which are small. All follows from it, so whoever comes next can go on with it. */
interface RunPlan extends EpochRange {
  readonly bytes: number;
}

export interface CompactionTime {
  /** All epochs up to this one are sealed. */
  readonly committed: number;
  readonly now: number;
  readonly blockEpochs: number;
}

/**
 * Merges the small files of successive epochs (protocol §9, Files). The epochs of a block fall into runs, each of which begins behind the one before it, so that a run's name is
 * given before its length is: (1) the run is planned, in a file that only one can create, (2) its files are merged, under names and with bytes that follow from the plan,
 * (3) the run's manifests are created, from which on readers find the rows in the merged files, (4) the plan goes. Whatever ends this in between, the next goes on; of
 * two that do the same each finds done what the other did.
 */
export async function compact(
  store: WritableStore,
  compaction: Compaction | undefined,
  time: CompactionTime,
): Promise<void> {
  await finishPlans(store);
  if (compaction === undefined) return;
  for (let planned = true; planned; ) planned = await planRuns(store, compaction, time);
}

async function finishPlans(store: WritableStore): Promise<void> {
  for (const first of plansAmong(await store.manifests())) await makeRun(store, first);
}

/** One run in each block that has enough for one. @returns whether there was any */
async function planRuns(store: WritableStore, compaction: Compaction, time: CompactionTime): Promise<boolean> {
  const { blockEpochs, committed } = time;
  const sources = manifestsAmong(await store.manifests());
  const blocks = Map.groupBy(sources, ({ first }) => Math.floor(first / blockEpochs));
  let planned = false;
  for (const [number, inBlock] of blocks) {
    if (inBlock.some(({ kind }) => kind === "block")) continue;
    const first = await nextRun(store, number * blockEpochs, inBlock);
    const epochs = inBlock.filter((one) => one.kind === "epoch" && one.first >= first && one.first <= committed);
    const last = await endOfRun(store, epochs, compaction, time);
    if (last === undefined) continue;
    const plan: RunPlan = { first, last, bytes: compaction.bytes };
    await store.create(runPlanPath(first), [Buffer.from(`${JSON.stringify(plan)}\n`)]);
    await makeRun(store, first);
    planned = true;
  }
  return planned;
}

/** Behind the last run of a block, or at its beginning. */
async function nextRun(store: WritableStore, blockFirst: number, sources: readonly ManifestSource[]): Promise<number> {
  const lastRun = sources.findLast(({ kind }) => kind === "run");
  let next = blockFirst;
  for await (const { epoch } of (lastRun && (await readSource(store, lastRun))) ?? []) next = epoch + 1;
  return next;
}

/** The last epoch of the run that is to be made now; undefined: none is. */
async function endOfRun(
  store: WritableStore,
  epochs: readonly ManifestSource[],
  { bytes, ageMs }: Compaction,
  { committed, now, blockEpochs }: CompactionTime,
): Promise<number | undefined> {
  const sizes = new Map<string, { files: number; bytes: number }>();
  for (const source of epochs) {
    for await (const { files } of (await readSource(store, source)) ?? [])
      for (const file of files.filter((one) => isSmall(one, bytes))) {
        const size = sizes.get(groupOf(file)) ?? { files: 0, bytes: 0 };
        sizes.set(groupOf(file), { files: size.files + 1, bytes: size.bytes + file.bytes });
      }
    if ([...sizes.values()].some((size) => size.files > 1 && size.bytes >= bytes)) return source.first;
  }
  const [oldest, newest] = [epochs[0], epochs.at(-1)];
  if (oldest === undefined || newest === undefined || ![...sizes.values()].some(({ files }) => files > 1))
    return undefined;
  const madeAt = (await store.modifiedAt(oldest.path)) ?? now;
  return now - madeAt >= ageMs || isDue(oldest.first, committed, blockEpochs) ? newest.first : undefined;
}

/** Does what the plan of the run says, as far as it is not done. */
async function makeRun(store: WritableStore, first: number): Promise<void> {
  const plan = await planOf(store, first);
  if (plan === undefined) return;
  const sources = manifestsAmong(await store.manifests()).filter(
    (one) => one.kind === "epoch" && one.first >= plan.first && one.first <= plan.last,
  );
  // Looked for after the listing: manifests go only once the run is there, and a plan that comes back is one of a run that was made.
  if (await isMade(store, first, sources)) return await store.remove([runPlanPath(first)]);
  try {
    const manifests = await Array.fromAsync(manifestsIn(store, sources));
    await store.create(runPath(first), [Buffer.from((await merge(store, plan, manifests)).map(manifestLine).join(""))]);
  } catch (error) {
    if (!(await isMade(store, first, sources))) throw error;
  }
  await store.remove([runPlanPath(first)]);
}

async function isMade(store: WritableStore, first: number, sources: readonly ManifestSource[]): Promise<boolean> {
  if ((await store.modifiedAt(runPath(first))) !== undefined) return true;
  const blocks = manifestsAmong(await store.manifests()).filter(({ kind }) => kind === "block");
  return sources.length === 0 || blocks.some((block) => block.first <= first && first <= block.last);
}

/** The manifests with merged files in place of small ones: each epoch's rows in the same order, in as many pieces. */
async function merge(store: WritableStore, plan: RunPlan, manifests: readonly Manifest[]): Promise<Manifest[]> {
  const small = manifests.flatMap(({ files }) => files.filter((file) => isSmall(file, plan.bytes)));
  const places = new Map<ManifestFile, ManifestFile>();
  const taken = new Map<string, number>();
  for (const pieces of Map.groupBy(small, groupOf).values()) {
    if (pieces.length < 2) continue;
    const name = mergedPath(plan, pieces[0]!.file, taken);
    await mergeFiles(store, name, pieces);
    let offset = pieces[0]!.offset ?? 0;
    for (const piece of pieces) {
      places.set(piece, { ...piece, file: name, offset });
      offset += piece.bytes;
    }
  }
  return manifests.map(({ epoch, files }) => ({ epoch, files: files.map((file) => places.get(file) ?? file) }));
}

/** Beside what it is merged of. Files of a folder that differ in their columns make several. */
function mergedPath({ first, last }: RunPlan, path: string, taken: Map<string, number>): string {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const extension = extensionOf(baseOf(path));
  const number = taken.get(folder + extension) ?? 0;
  taken.set(folder + extension, number + 1);
  return folder + mergedName(first, last, number, extension);
}

async function mergeFiles(store: WritableStore, path: string, pieces: readonly ManifestFile[]): Promise<void> {
  if ((await store.modifiedAt(path)) === undefined) await store.create(path, bytesOf(store, pieces));
}

/** The first file's names of columns, and the rows of all: compressed files may be put together as they are. */
async function* bytesOf(store: WritableStore, pieces: readonly ManifestFile[]): AsyncGenerator<Buffer> {
  const { file, offset = 0 } = pieces[0]!;
  if (offset > 0) yield* (await store.read(file, { start: 0, end: offset })) ?? overtaken();
  for (const piece of pieces) {
    const start = piece.offset ?? 0;
    const chunks = (await store.read(piece.file, { start, end: start + piece.bytes })) ?? overtaken();
    const digest = createHash("sha256");
    for await (const chunk of chunks) {
      digest.update(chunk);
      yield chunk;
    }
    if (digest.digest("hex") !== piece.digest) throw lost("damaged", undefined, store.urlOf(piece.file));
  }
}

function overtaken(): never {
  throw new Overtaken();
}

function isSmall({ file, bytes }: ManifestFile, limit: number): boolean {
  return bytes < limit && !isMergedName(baseOf(file));
}

/** Files that can be merged with each other: of one folder, format and list of columns. */
function groupOf({ file, header = "" }: ManifestFile): string {
  return JSON.stringify([file.slice(0, file.lastIndexOf("/") + 1), extensionOf(baseOf(file)), header]);
}

/** Undefined: there is none. */
async function planOf(store: WritableStore, first: number): Promise<RunPlan | undefined> {
  const text = await textOf(store, runPlanPath(first));
  if (text === undefined) return undefined;
  try {
    const plan = JSON.parse(text);
    if (plan.first === first && [plan.last, plan.bytes].every(Number.isSafeInteger)) return plan;
  } catch {}
  const path = store.urlOf(runPlanPath(first));
  throw new LossError("manifest-damaged", `${path} is not as it was written`, {
    wayOut: "Delete it: the files are merged by a new plan.",
    place: { file: path },
  });
}
