import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { OrParameter } from "../parameter.ts";
import { checkText, describeSource, type SourceOptions, sourceOptionNames } from "../source-options.ts";
import type { SinkDescription, SourceDescription } from "../topology.ts";

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

export interface FilesSinkOptions {
  /** A folder, made if it is missing, which belongs to this sink alone. Rows are JSON lines. */
  readonly path: OrParameter<string>;
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

/** Lines in, rows out, of a disk (protocol §7, §9). Paths are relative to the working directory. */
export const files = {
  /** Reads lines. @throws UsageError for an option that is unknown or not allowed */
  source<T>(given: FilesSourceOptions<T>): SourceDescription<T, string | undefined> {
    const own = ["path", "include", "exclude", "compression", "maxLineBytes"];
    checkOptions("files.source()", given, [...own, ...sourceOptionNames]);
    const { path, maxLineBytes = defaultMaxLineBytes } = given;
    if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1) {
      throw new UsageError("invalid-option", `maxLineBytes is ${String(maxLineBytes)}, but must be a positive integer`);
    }
    return describeSource("files", given, {
      path: checkText("path of files.source()", path),
      maxLineBytes,
      ...chosen("include", given.include, checkPatterns),
      ...chosen("exclude", given.exclude, checkPatterns),
      ...chosen("compression", given.compression, checkCompression),
    });
  },

  /** Writes rows, each of which JSON must be able to say, but for bigints, which become text; any other follows `onError`. @throws UsageError for an option that is unknown or not allowed */
  sink<T = unknown>(given: FilesSinkOptions): SinkDescription<T> {
    checkOptions("files.sink()", given, ["path"]);
    return { kind: "files", options: { path: checkText("path of files.sink()", given.path) } };
  },
};
