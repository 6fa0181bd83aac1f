import { LossError } from "../../errors.ts";
import { epochDigits, isFinalName, padded } from "./names.ts";

/** The files of one epoch's output, in the order of their rows. The same bytes whatever happened on the way (I6). */
export interface Manifest {
  readonly epoch: number;
  readonly files: readonly ManifestFile[];
}

export interface ManifestFile {
  /** Name in the output. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
}

/** A file that holds the manifests of the epochs `[first, last]`: of a single one, or of a block of them (an index), one a line. */
export interface ManifestSource extends EpochRange {
  readonly path: string;
}

export function manifestText({ epoch, files }: Manifest): string {
  const sorted = [...files].sort((a, b) => (a.file < b.file ? -1 : 1));
  const listed = sorted.map(({ file, rows, bytes, digest }) => ({ file, rows, bytes, digest }));
  return `${JSON.stringify({ epoch, files: listed })}\n`;
}

export interface EpochRange {
  readonly first: number;
  readonly last: number;
}

/** Manifests of so many epochs go into one index. */
export const indexEpochs = 1000;

/** The epochs whose manifests go into one index. */
export function blockOf(epoch: number, blockEpochs: number): EpochRange {
  const first = Math.floor(epoch / blockEpochs) * blockEpochs;
  return { first, last: first + blockEpochs - 1 };
}

export function manifestName(epoch: number): string {
  return `${padded(epoch, epochDigits)}.json`;
}

export function indexName({ first, last }: EpochRange): string {
  return `${padded(first, epochDigits)}-${padded(last, epochDigits)}.jsonl`;
}

/** Those of `names` that are manifests, by first epoch; an index before single ones that it covers. */
export function manifestsAmong(names: readonly string[], pathOf: (name: string) => string): ManifestSource[] {
  const sources = names.flatMap((name) => {
    const [, first, last = first] = /^(\d{12})(?:\.json|-(\d{12})\.jsonl)$/.exec(name) ?? [];
    return first === undefined ? [] : [{ path: pathOf(name), first: Number(first), last: Number(last) }];
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
