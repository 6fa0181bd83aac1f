import { UsageError } from "../../errors.ts";

/** A matter of how disks are mounted, which nothing here can mend. */
export function twoFileSystems(root: string, below: string): UsageError {
  return new UsageError("output-on-two-file-systems", `${below} is on another file system than ${root}`, {
    wayOut: `Unmount what is mounted at or below ${root}, or choose another output folder: files are published by renaming.`,
    place: { file: below },
  });
}
