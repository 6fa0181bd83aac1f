import { createHash } from "node:crypto";
import { LossError, UsageError } from "../../errors.ts";
import { inOrder } from "../output/direct.ts";
import { type Manifest, type ManifestFile, parseManifests } from "../output/manifest.ts";
import { directPrefix } from "../output/names.ts";
import { OutputPlace, type S3OutputOptions } from "./output-place.ts";

/** Bytes that are read at once. */
const blockBytes = 8 << 20;
const lineFeed = 10;

/**
 * The rows of a files sink in a bucket as JSON texts, one each: of whole epochs only, in the order of epochs, tasks and rows. Safe while the pipeline runs:
 * epochs that are sealed meanwhile may be seen or not.
 *
 * @throws UsageError if the place is not the output of a files sink; LossError if an object is missing or has another length, before any row of it is
 * given, or if it has other bytes, after its rows
 */
export async function* readRows(options: S3OutputOptions): AsyncGenerator<string> {
  for await (const chunk of readChunks(options)) yield* chunk.toString("utf8").split("\n").slice(0, -1);
}

/** What `readRows` reads, many rows at once: each chunk holds whole lines, their ends included. */
export async function* readChunks(options: S3OutputOptions): AsyncGenerator<Buffer> {
  const place = new OutputPlace("readRows()", options);
  for await (const { epoch, files, direct } of inOrder(await directFiles(place), manifestsIn(place))) {
    for (const file of direct) yield* readLines(place, file, (await place.bucket.head(place.keyOf(file)))?.bytes ?? 0);
    for (const file of files) yield* readFileOf(place, epoch, file);
  }
}

async function directFiles(place: OutputPlace): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of place.bucket.list(place.keyOf(directPrefix))) names.push(key.slice(place.prefix.length));
  return names;
}

/** The manifests of all sealed epochs with output, in the order of epochs. Each epoch comes once. */
export async function* readManifests(options: S3OutputOptions): AsyncGenerator<Manifest> {
  yield* manifestsIn(new OutputPlace("readManifests()", options));
}

async function* manifestsIn(place: OutputPlace): AsyncGenerator<Manifest> {
  if (!(await place.bucket.head(place.ownerMark))) throw notAnOutput(place);
  let epoch = -1;
  for (let sources = await place.listManifests(); ; sources = await place.listManifests()) {
    let whole = true;
    for (const source of sources) {
      if (source.last <= epoch) continue;
      const text = await place.textOf(source.path);
      // It was rolled into an index since it was listed: list again.
      whole = text !== undefined;
      if (text === undefined) break;
      for (const manifest of parseManifests(text, { ...source, path: place.bucket.urlOf(source.path) })) {
        if (manifest.epoch <= epoch) continue;
        epoch = manifest.epoch;
        yield manifest;
      }
    }
    if (whole) return;
  }
}

async function* readFileOf(place: OutputPlace, epoch: number, file: ManifestFile): AsyncGenerator<Buffer> {
  const { bucket } = place;
  const key = place.keyOf(file.file);
  const url = bucket.urlOf(key);
  const found = await bucket.head(key);
  if (found === undefined) throw lost("missing", `${url} is missing, which is output of epoch ${epoch}`, url);
  const damaged = () => lost("damaged", `${url} is not as epoch ${epoch} wrote it`, url);
  if (found.bytes !== file.bytes) throw damaged();
  const digest = createHash("sha256");
  yield* readLines(place, file.file, file.bytes, (block) => digest.update(block));
  if (digest.digest("hex") !== file.digest) throw damaged();
}

/** Whole lines. @throws LossError `output-file-damaged` if it is gone meanwhile */
async function* readLines(
  place: OutputPlace,
  file: string,
  bytes: number,
  see: (block: Uint8Array) => void = () => {},
): AsyncGenerator<Buffer> {
  const key = place.keyOf(file);
  const url = place.bucket.urlOf(key);
  let rest = Buffer.alloc(0);
  for (let start = 0; start < bytes; start += blockBytes) {
    const block = await place.bucket.get(key, { range: { start, end: Math.min(bytes, start + blockBytes) } });
    if (typeof block === "string") throw lost("damaged", `${url} is not as it was written`, url);
    see(block);
    const all = Buffer.concat([rest, block]);
    const end = all.lastIndexOf(lineFeed) + 1;
    rest = all.subarray(end);
    if (end > 0) yield all.subarray(0, end);
  }
}

function lost(what: string, message: string, file: string): LossError {
  return new LossError(`output-file-${what}`, message, {
    wayOut: "Restore the object from a backup.",
    place: { file },
  });
}

function notAnOutput({ url }: OutputPlace): UsageError {
  return new UsageError("not-an-output", `${url} is not the output of a files sink`, {
    wayOut: "Give the bucket and prefix that the pipeline's files.sink() writes to.",
    place: { file: url },
  });
}
