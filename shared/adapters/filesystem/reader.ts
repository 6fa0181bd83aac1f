import { type FileHandle, open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LossError, UsageError } from "../../errors.ts";
import { didYouMean } from "../../options.ts";
import { inOrder } from "../output/direct.ts";
import { type Manifest, type ManifestFile, parseManifests } from "../output/manifest.ts";
import { digestOf } from "./digest.ts";
import { unlessMissing } from "./durable.ts";
import { listManifests } from "./manifest.ts";
import { type OutputLayout, outputLayout } from "./output-layout.ts";

const chunkBytes = 1 << 20;
const lineFeed = 10;

/**
 * The rows of a files sink as JSON texts, one each: of whole epochs only, or, under a weaker guarantee, of whole tasks; in the order of epochs, tasks and rows. Safe while the pipeline runs: epochs
 * that are sealed meanwhile may be seen or not.
 *
 * @param path the sink's output folder
 * @throws UsageError if the folder is not the output of a files sink; LossError if a file is missing or damaged, before any row of it is given
 */
export async function* readRows(path: string): AsyncGenerator<string> {
  for await (const chunk of readChunks(path)) yield* chunk.toString("utf8").split("\n").slice(0, -1);
}

/** What `readRows` reads, many rows at once: each chunk holds whole lines, their ends included. */
export async function* readChunks(path: string): AsyncGenerator<Buffer> {
  const { root } = outputLayout(path);
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for await (const { epoch, files, direct } of inOrder(await directFiles(root), readManifests(path))) {
    for (const file of direct) yield* readDirect(join(root, file), buffer);
    for (const file of files) yield* readFileOf(root, epoch, file, buffer);
  }
}

async function directFiles(root: string): Promise<string[]> {
  return (await unlessMissing(readdir(root))) ?? [];
}

/** It is whole, or it would not be there; of what it should be nobody has kept anything. */
async function* readDirect(path: string, buffer: Buffer): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    yield* wholeLines(handle, (await handle.stat()).size, buffer);
  } finally {
    await handle.close();
  }
}

/** The manifests of all sealed epochs with output, in the order of epochs. Each epoch comes once. */
export async function* readManifests(path: string): AsyncGenerator<Manifest> {
  const layout = outputLayout(path);
  await checkIsOutput(path, layout);
  let epoch = -1;
  for (let sources = await listManifests(layout); ; sources = await listManifests(layout)) {
    let whole = true;
    for (const source of sources) {
      if (source.last <= epoch) continue;
      const text = await unlessMissing(readFile(source.path, "utf8"));
      // It was rolled into an index since it was listed: list again.
      whole = text !== undefined;
      if (text === undefined) break;
      for (const manifest of parseManifests(text, source)) {
        if (manifest.epoch <= epoch) continue;
        epoch = manifest.epoch;
        yield manifest;
      }
    }
    if (whole) return;
  }
}

/** Checks the whole file first, so that no row of a damaged one is given. */
async function* readFileOf(root: string, epoch: number, file: ManifestFile, buffer: Buffer): AsyncGenerator<Buffer> {
  const path = join(root, file.file);
  const handle = await unlessMissing(open(path));
  if (handle === undefined)
    throw lost("output-file-missing", `${path} is missing, which is output of epoch ${epoch}`, path);
  try {
    const digest = await digestOf(handle, file.bytes, buffer);
    if (digest !== file.digest) throw lost("output-file-damaged", `${path} is not as epoch ${epoch} wrote it`, path);
    yield* wholeLines(handle, file.bytes, buffer);
  } finally {
    await handle.close();
  }
}

/** Each read begins at a line's start; for a line longer than the buffer a larger one is used. */
async function* wholeLines(handle: FileHandle, bytes: number, given: Buffer): AsyncGenerator<Buffer> {
  let buffer = given;
  for (let position = 0; position < bytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    const end = buffer.subarray(0, bytesRead).lastIndexOf(lineFeed) + 1;
    if (end > 0) yield Buffer.from(buffer.subarray(0, end));
    else buffer = Buffer.allocUnsafeSlow(buffer.length * 2);
    position += end;
  }
}

function lost(code: string, message: string, path: string): LossError {
  return new LossError(code, message, { wayOut: "Restore the file from a backup.", place: { file: path } });
}

async function checkIsOutput(path: string, { root, manifests }: OutputLayout): Promise<void> {
  if (await unlessMissing(stat(manifests))) return;
  const names = (await unlessMissing(readdir(dirname(root)))) ?? [];
  const meant = (await unlessMissing(stat(root))) ? "" : didYouMean(basename(root), names);
  throw new UsageError("not-an-output", `${path} is not the output folder of a files sink.${meant}`, {
    wayOut: "Give the folder that the pipeline's files.sink() writes to.",
    place: { file: root },
  });
}
