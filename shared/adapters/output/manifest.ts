import { LossError } from "../../errors.ts";
import type { SinkContext } from "../../ports/sink.ts";
import {
  baseOf,
  directIndexName,
  directName,
  epochDigits,
  epochOfDirect,
  isDataName,
  isWithin,
  padded,
  rangeOfDirectIndex,
} from "./names.ts";

/** The files of one epoch's output, in the order of their rows. The same bytes whatever happened on the way (I6). */
export interface Manifest {
  readonly epoch: number;
  readonly files: readonly ManifestFile[];
}

/** Rows of an epoch: the bytes of a file from `offset` on, compressed if the file's name says so. */
export type ManifestFile = {
  /** Path in the output, with `/` between its parts. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of those bytes, in hexadecimal. */
  readonly digest: string;
  /** Where they begin; absent: at the file's beginning. */
  readonly offset?: number;
  /** What stands before all rows of the file, with its line end: the names of columns. */
  readonly header?: string;
};

/** How long a file is that has no other rows. */
export function lengthOf({ offset = 0, bytes }: ManifestFile): number {
  return offset + bytes;
}

/** Of a file or handle, what a manifest says, in this order. */
export function manifestFile({ file, rows, bytes, digest, offset, header }: ManifestFile): ManifestFile {
  return { file, rows, bytes, digest, ...(offset && { offset }), ...(header !== undefined && { header }) };
}

export interface EpochRange {
  readonly first: number;
  readonly last: number;
}

/** A file that holds manifests: of one epoch; of a run of epochs, whose end stands in it alone; or of a block of them, an index. One a line. */
export interface ManifestSource extends EpochRange {
  readonly kind: "epoch" | "run" | "block";
  readonly path: string;
}

/** @param files in the order of their names, unless they are in their order already */
export function manifestText({ epoch, files }: Manifest): string {
  return manifestLine({ epoch, files: [...files].sort((a, b) => (a.file < b.file ? -1 : 1)) });
}

export function manifestLine({ epoch, files }: Manifest): string {
  return `${JSON.stringify({ epoch, files: files.map(manifestFile) })}\n`;
}

/** Manifests of so many epochs go into one index. */
export const indexEpochs = 1000;

/** The epochs whose manifests go into one index. */
export function blockOf(epoch: number, blockEpochs: number): EpochRange {
  const first = Math.floor(epoch / blockEpochs) * blockEpochs;
  return { first, last: first + blockEpochs - 1 };
}

/** The folder of manifests, by its path in the output. */
export const manifestFolder = ".epochflow/manifests/";

export function manifestPath(epoch: number): string {
  return `${manifestFolder}${padded(epoch, epochDigits)}.json`;
}

export function indexPath({ first, last }: EpochRange): string {
  return `${manifestFolder}${padded(first, epochDigits)}-${padded(last, epochDigits)}.jsonl`;
}

/** Manifests of epochs whose small files are merged. Named by its first epoch alone: of two that would begin there, one can be created. */
export function runPath(first: number): string {
  return `${manifestFolder}${padded(first, epochDigits)}-run.jsonl`;
}

/** What a run is going to be: whoever makes it follows the plan. */
export function runPlanPath(first: number): string {
  return `${manifestFolder}${padded(first, epochDigits)}-run.plan`;
}

/** Of what a task published without a second phase, under a name of the invocation's own. */
export function directPath(context: SinkContext): string {
  return manifestFolder + directName(context, 0, "json");
}

/** An index of such manifests. */
export function directIndexPath({ first, last }: EpochRange): string {
  return manifestFolder + directIndexName(first, last);
}

/** Those of `paths` that are such, or indexes of them, by first epoch. */
export function directAmong(paths: readonly string[]): ManifestSource[] {
  return sorted(
    paths.flatMap((path): ManifestSource[] => {
      const epoch = epochOfDirect(baseOf(path));
      if (epoch !== undefined) return [{ kind: "epoch", path, first: epoch, last: epoch }];
      const range = rangeOfDirectIndex(baseOf(path));
      return range === undefined ? [] : [{ kind: "block", path, ...range }];
    }),
  );
}

/** Those of `paths` that hold manifests, by first epoch; what covers more before what it covers. */
export function manifestsAmong(paths: readonly string[]): ManifestSource[] {
  return sorted(paths.flatMap((path) => sourceOf(path) ?? []));
}

function sorted(sources: ManifestSource[]): ManifestSource[] {
  return sources.sort((a, b) => a.first - b.first || b.last - a.last || (a.path < b.path ? -1 : 1));
}

function sourceOf(path: string): ManifestSource | undefined {
  const [, first, rest = ""] = /^(\d{12})(\.json|-run\.jsonl|-\d{12}\.jsonl)$/.exec(baseOf(path)) ?? [];
  if (first === undefined) return undefined;
  if (rest === ".json") return { kind: "epoch", path, first: Number(first), last: Number(first) };
  if (rest === "-run.jsonl") return { kind: "run", path, first: Number(first), last: Number.POSITIVE_INFINITY };
  return { kind: "block", path, first: Number(first), last: Number(rest.slice(1, 1 + epochDigits)) };
}

/** Whether a file takes the place of manifests that were there before. */
export function isRolledUp(path: string): boolean {
  const [source] = [...manifestsAmong([path]), ...directAmong([path])];
  return source !== undefined && source.kind !== "epoch";
}

/** First epochs of the plans among `paths`. */
export function plansAmong(paths: readonly string[]): number[] {
  return paths.flatMap((path) => {
    const [, first] = /^(\d{12})-run\.plan$/.exec(baseOf(path)) ?? [];
    return first === undefined ? [] : [Number(first)];
  });
}

/** @throws LossError `manifest-damaged` */
export function manifestDamaged(path: string): LossError {
  return new LossError("manifest-damaged", `${path} is not a manifest as it was written`, {
    wayOut: "Restore it from a backup.",
    place: { file: path },
  });
}

/** Undefined: this is none. */
export function parseManifest(line: string): Manifest | undefined {
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
  const { file, rows, bytes, digest, offset = 0, header = "" } = value as Record<string, unknown>;
  const texts = typeof file === "string" && typeof digest === "string" && typeof header === "string";
  return texts && isOutputFile(file) && [rows, bytes, offset].every(Number.isSafeInteger);
}

function isOutputFile(path: string): boolean {
  return isWithin(path) && isDataName(baseOf(path));
}
