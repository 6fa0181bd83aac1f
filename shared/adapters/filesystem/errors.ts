import { EpochflowError, InfrastructureError } from "../../errors.ts";
import { errno } from "./durable.ts";

interface Meaning {
  readonly code: string;
  readonly what: string;
  readonly wayOut: string;
}

const full: Meaning = {
  code: "disk-full",
  what: "there is no space left",
  wayOut: "Free some space: the run then goes on by itself.",
};
const forbidden: Meaning = {
  code: "not-permitted",
  what: "this is not permitted",
  wayOut: "Give this user the right to read and write there.",
};
const file: Meaning = {
  code: "not-a-folder",
  what: "a part of the path is a file",
  wayOut: "Move that file away, or choose another folder.",
};
const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: {
    code: "read-only",
    what: "the file system is read-only",
    wayOut: "Choose another folder, or mount it for writing.",
  },
  EEXIST: file,
  ENOTDIR: file,
  ENOENT: {
    code: "folder-missing",
    what: "there is no such file or folder",
    wayOut: "Was it deleted or unmounted? Bring it back.",
  },
  EMFILE: {
    code: "too-many-files",
    what: "too many files are open",
    wayOut: "Raise the limit of open files (ulimit -n).",
  },
};

/**
 * An error of the operating system as one of ours, which is tried again later: `disk-full`, `not-permitted`, `read-only`, `not-a-folder`,
 * `folder-missing`, `too-many-files`, else `file-system`.
 *
 * @param doing what was tried: "store an object"
 * @param path the file or folder that the reader has to look at
 */
export function fileSystemError(error: unknown, doing: string, path: string): EpochflowError {
  if (error instanceof EpochflowError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const { code, what, wayOut } = meanings[errno(error) ?? ""] ?? {
    code: "file-system",
    what: text,
    wayOut: undefined,
  };
  return new InfrastructureError(code, `Cannot ${doing} in ${path}: ${what}`, {
    ...(wayOut === undefined ? {} : { wayOut }),
    place: { file: path },
    cause: error,
  });
}
