import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { LossError } from "../../errors.ts";
import { unlessMissing } from "./durable.ts";
import { epochDigits, isFinalName, type OutputLayout, padded } from "./output-layout.ts";

/** The files of one epoch's output, in the order of their rows. The same bytes whatever happened on the way (I6). */
export interface Manifest {
  readonly epoch: number;
  readonly files: readonly ManifestFile[];
}

export interface ManifestFile {
  /** Name in the output folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
}

/** A file that holds the manifests of the epochs `[first, last]`: of a single one, or of a block of them (an index), one a line. */
export interface ManifestSource {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

export function manifestText({ epoch, files }: Manifest): string {
  const sorted = [...files].sort((a, b) => (a.file < b.file ? -1 : 1));
  const listed = sorted.map(({ file, rows, bytes, digest }) => ({ file, rows, bytes, digest }));
  return `${JSON.stringify({ epoch, files: listed })}\n`;
}

export function manifestPath({ manifests }: OutputLayout, epoch: number): string {
  return join(manifests, `${padded(epoch, epochDigits)}.json`);
}

export function indexPath({ manifests }: OutputLayout, { first, last }: { first: number; last: number }): string {
  return join(manifests, `${padded(first, epochDigits)}-${padded(last, epochDigits)}.jsonl`);
}

/** All files with manifests, by first epoch; an index before single ones that it covers. */
export async function listManifests({ manifests }: OutputLayout): Promise<ManifestSource[]> {
  const names = (await unlessMissing(readdir(manifests))) ?? [];
  const sources = names.flatMap((name) => {
    const [, first, last = first] = /^(\d{12})(?:\.json|-(\d{12})\.jsonl)$/.exec(name) ?? [];
    return first === undefined ? [] : [{ path: join(manifests, name), first: Number(first), last: Number(last) }];
  });
  return sources.sort((a, b) => a.first - b.first || b.last - a.last);
}

/** @throws LossError `manifest-damaged` */
export function parseManifests(text: string, { path, first, last }: ManifestSource): Manifest[] {
  const manifests = text.split("\n").slice(0, -1).map(parseManifest);
  const whole =
    text.endsWith("\n") && manifests.every((one) => one !== undefined && one.epoch >= first && one.epoch <= last);
  if (whole) return manifests as Manifest[];
  throw new LossError("manifest-damaged", `${path} is not a manifest as it was written`, {
    wayOut: "Restore it from a backup.",
    place: { file: path },
  });
}

function parseManifest(line: string): Manifest | undefined {
  try {
    const { epoch, files } = JSON.parse(line);
    return Number.isSafeInteger(epoch) && Array.isArray(files) && files.every(isManifestFile)
      ? { epoch, files }
      : undefined;
  } catch {
    return undefined;
  }
}

export function isManifestFile(value: unknown): value is ManifestFile {
  if (value === null || typeof value !== "object") return false;
  const { file, rows, bytes, digest } = value as Record<string, unknown>;
  const texts = typeof file === "string" && isFinalName(file) && typeof digest === "string";
  return texts && Number.isSafeInteger(rows) && Number.isSafeInteger(bytes);
}
