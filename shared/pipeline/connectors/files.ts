import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { OrParameter } from "../parameter.ts";
import { checkText, describeSource, type SourceOptions, sourceOptionNames } from "../source-options.ts";
import type { SinkDescription, SourceDescription } from "../topology.ts";

export interface FilesSourceOptions<T> extends SourceOptions<T> {
  /** A file of lines, or a folder of such files, each of which is a partition. */
  readonly path: OrParameter<string>;
  /** A longer line is an error rather than a buffer without bound; default 16 MiB. */
  readonly maxLineBytes?: number;
}

export interface FilesSinkOptions {
  /** A folder, made if it is missing, which belongs to this sink alone. Rows are JSON lines. */
  readonly path: OrParameter<string>;
}

const defaultMaxLineBytes = 16 * 1024 * 1024;

/** Lines in, rows out, of a disk (protocol §7, §9). Paths are relative to the working directory. */
export const files = {
  /** Reads lines. @throws UsageError for an option that is unknown or not allowed */
  source<T>(given: FilesSourceOptions<T>): SourceDescription<T, string | undefined> {
    checkOptions("files.source()", given, ["path", "maxLineBytes", ...sourceOptionNames]);
    const { path, maxLineBytes = defaultMaxLineBytes } = given;
    if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1) {
      throw new UsageError("invalid-option", `maxLineBytes is ${String(maxLineBytes)}, but must be a positive integer`);
    }
    return describeSource("files", given, { path: checkText("path of files.source()", path), maxLineBytes });
  },

  /** Writes rows, each of which JSON must be able to say, but for bigints, which become text; any other follows `onError`. @throws UsageError for an option that is unknown or not allowed */
  sink<T = unknown>(given: FilesSinkOptions): SinkDescription<T> {
    checkOptions("files.sink()", given, ["path"]);
    return { kind: "files", options: { path: checkText("path of files.sink()", given.path) } };
  },
};
