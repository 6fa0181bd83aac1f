import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { PathTemplate } from "../../path-template/template.ts";
import { checkDuration } from "../durations.ts";
import type { OrParameter } from "../parameter.ts";
import { checkText, describeSource, type SourceOptions, sourceOptionNames } from "../source-options.ts";
import type { SinkDescription, SourceDescription } from "../topology.ts";
import { checkFileFormat, type FileCompression, type FileFormat } from "./file-format.ts";

export interface FilesSourceOptions<T> extends SourceOptions<T> {
  /** A file of lines, or a folder of such files, each of which is a partition. */
  readonly path: OrParameter<string>;
  /**
   * Which files of the folder are read: a pattern, or several. One without `/` is for the name alone ("*.log"), at any depth; one with `/` for the path below the folder
   * ("2026/**"). All by default, but for those whose name begins with `.` or `_`, which are never read.
   */
  readonly include?: string | readonly string[];
  /** Patterns of files that are not read, though `include` may match them. */
  readonly exclude?: string | readonly string[];
  /** `"auto"`, the default, decompresses what begins as gzip or Zstandard does, whatever its name; `"none"` nothing; `"gzip"` and `"zstd"` refuse files of any other kind. */
  readonly compression?: "auto" | "none" | "gzip" | "zstd";
  /** A longer line is an error rather than a buffer without bound; default 16 MiB. */
  readonly maxLineBytes?: number;
}

export interface FilesSinkOptions<T = unknown> {
  /** A folder, made if it is missing, or `s3://bucket/prefix`; it belongs to this sink alone. */
  readonly path: OrParameter<string>;
  /**
   * Folders below it by fields of the rows: `"{windowStart:yyyy/MM/dd}/{key}"`, by name or by JSON pointer, `{user.id}` or `{/user/id}`. A field alone stands as its text, percent-encoded but for `a-z`, `0-9`, `-` and `_`; with
   * a pattern of `yyyy`, `MM`, `dd`, `HH`, `mm` and `ss` it is a time in epoch milliseconds, or a `Date`, in UTC. A row without such a field follows `onError`.
   */
  readonly partitionBy?: OrParameter<string>;
  /** `json()`, a line a row (default); `csv({ columns })`; `text()`, or `text((row) => …)`. A row that cannot be written so follows `onError`. */
  readonly format?: FileFormat<T>;
  /** Default none. */
  readonly compression?: FileCompression;
  /** A task's file of an epoch ends once it has so many bytes, and another begins; default: it does not. */
  readonly maxFileBytes?: number;
  /** Small files of successive epochs are merged; default: they stay as they are. `{}` takes the defaults. */
  readonly compact?: CompactOptions;
}

export interface CompactOptions {
  /** Files with fewer bytes are small; those of a folder are merged once together they have so many. Default 128 MiB. */
  readonly bytes?: number;
  /** They are merged anyway once the oldest is so old, in milliseconds: `hours(1)`, the default. */
  readonly age?: number;
  /** Milliseconds that small files stay once they are merged, for readers that are still at them; default an hour. */
  readonly grace?: number;
}

const compressions: readonly unknown[] = ["auto", "none", "gzip", "zstd"];

/** An option that is in the description only where it is given. */
function chosen<T>(name: string, given: T | undefined, check: (name: string, given: T) => void): Record<string, T> {
  if (given === undefined) return {};
  check(name, given);
  return { [name]: given };
}

function checkPatterns(name: string, given: unknown): void {
  const patterns: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (patterns.length > 0 && patterns.every((one) => typeof one === "string" && one !== "" && !one.startsWith("/")))
    return;
  throw new UsageError("invalid-option", `${name} of files.source() must be a pattern, or a list of patterns`, {
    wayOut: `Give names, or paths below the folder: "*.log", ["*.log", "*.log.gz"], "2026/**".`,
  });
}

function checkCompression(name: string, given: unknown): void {
  if (compressions.includes(given)) return;
  throw new UsageError("invalid-option", `${name} of files.source() is ${String(given)}`, {
    wayOut: `It is one of ${compressions.join(", ")}.`,
  });
}

const defaultMaxLineBytes = 16 * 1024 * 1024;

/** Lines in, rows out, of a disk or a bucket (protocol §7, §9). Paths are relative to the working directory. */
export const files = {
  /** Reads lines. @throws UsageError for an option that is unknown or not allowed */
  source<T>(given: FilesSourceOptions<T>): SourceDescription<T, string | undefined> {
    const own = ["path", "include", "exclude", "compression", "maxLineBytes"];
    checkOptions("files.source()", given, [...own, ...sourceOptionNames]);
    const { path, maxLineBytes = defaultMaxLineBytes } = given;
    checkBytes("maxLineBytes", maxLineBytes);
    return describeSource("files", given, {
      path: checkText("path of files.source()", path),
      maxLineBytes,
      ...chosen("include", given.include, checkPatterns),
      ...chosen("exclude", given.exclude, checkPatterns),
      ...chosen("compression", given.compression, checkCompression),
    });
  },

  /** Writes rows. @throws UsageError for an option that is unknown or not allowed */
  sink<T = unknown>(given: FilesSinkOptions<T>): SinkDescription<T> {
    const what = "files.sink()";
    checkOptions(what, given, ["path", "partitionBy", "format", "compression", "maxFileBytes", "compact"]);
    const { partitionBy, maxFileBytes, compact } = given;
    if (compact !== undefined) checkCompact(`compact of ${what}`, compact);
    if (maxFileBytes !== undefined) checkBytes("maxFileBytes", maxFileBytes);
    if (partitionBy !== undefined) checkText(`partitionBy of ${what}`, partitionBy);
    if (typeof partitionBy === "string") new PathTemplate(partitionBy);
    return {
      kind: "files",
      options: {
        path: checkFolder(checkText(`path of ${what}`, given.path)),
        ...(partitionBy !== undefined && { partitionBy }),
        ...checkFileFormat(what, given),
        ...(maxFileBytes !== undefined && { maxFileBytes }),
        ...(compact !== undefined && { compact }),
      },
    };
  },
};

function checkCompact(what: string, given: CompactOptions): void {
  checkOptions(what, given, ["bytes", "age", "grace"]);
  const { bytes, age, grace } = given;
  if (bytes !== undefined) checkBytes(`bytes of ${what}`, bytes);
  if (age !== undefined) checkDuration(`age of ${what}`, age);
  if (grace !== undefined) checkDuration(`grace of ${what}`, grace);
}

function checkBytes(option: string, given: number): void {
  if (Number.isSafeInteger(given) && given >= 1) return;
  throw new UsageError("invalid-option", `${option} is ${String(given)}, but must be a positive integer`);
}

/** A placeholder in the path would be a folder of that name, which nobody wants. */
function checkFolder(path: OrParameter<string>): OrParameter<string> {
  const at = typeof path === "string" ? path.search(/(?<=^|\/)[^/{]*\{[\w.]+(:[^{}]+)?\}/) : -1;
  if (at === -1) return path;
  const [folder, template] = [String(path).slice(0, at), String(path).slice(at)];
  throw new UsageError(
    "invalid-option",
    `path of files.sink() is ${JSON.stringify(path)}, but the folder is the same for all rows`,
    {
      wayOut: `Write path: ${JSON.stringify(folder.replace(/(?<=.)\/$/, "") || ".")}, partitionBy: ${JSON.stringify(template)}.`,
    },
  );
}
