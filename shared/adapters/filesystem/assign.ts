import { posix } from "node:path";
import { beginsAs, type FoundFile, isPackedAs } from "./found-file.ts";
import { agree, fingerprintBytes, isDone, type WantedFile } from "./identity.ts";

/** Where a file of a partition may be found; `place`: where it was. */
interface Rank {
  readonly place: boolean;
  files(wanted: WantedFile): Iterable<FoundFile>;
}

/** Fingerprint of the bytes before a position of a file. */
export type TailAt = (file: FoundFile, position: number) => Promise<string>;

/**
 * Finds the files of known partitions: same fingerprints, not shorter than what was read. Of equal ones the file is meant that kept inode and name; then
 * inode (a rotation), neither but for the length (a copy, perhaps a compressed one), name (a restore), none of these (a copy that grew before). Each file is taken once, and by a partition that has more to read first.
 *
 * @param inodes of all files that there are: one whose content is another was truncated
 */
export async function assign(
  wanted: readonly WantedFile[],
  found: readonly FoundFile[],
  { inodes, tailAt }: { readonly inodes: ReadonlySet<string>; readonly tailAt: TailAt },
): Promise<Map<WantedFile, FoundFile>> {
  const assigned = new Map<WantedFile, FoundFile>();
  const free = new Set(found);
  const byInode = Map.groupBy(found, ({ inode }) => inode);
  const byName = Map.groupBy(found, ({ file }) => file);
  const copies = (one: WantedFile) => free.values().filter((file) => isCopy(one, file, inodes));
  const ranks: Rank[] = [
    { place: true, files: ({ identity }) => named(byInode.get(identity.inode), identity.file) },
    { place: true, files: ({ identity }) => byInode.get(identity.inode) ?? [] },
    { place: false, files: (one) => copies(one).filter(({ size }) => size === one.identity.seen) },
    { place: true, files: ({ identity }) => byName.get(identity.file) ?? [] },
    { place: false, files: copies },
  ];
  const waiting = new Set([...wanted].sort((a, b) => Number(isDone(a)) - Number(isDone(b))));
  for (const { place, files } of ranks) {
    for (const one of waiting) {
      for (const file of files(one)) {
        if (!free.has(file) || !(await isSame(one, file, tailAt, place))) continue;
        assigned.set(one, file);
        free.delete(file);
        waiting.delete(one);
        break;
      }
    }
  }
  return assigned;
}

async function isSame({ identity, position }: WantedFile, file: FoundFile, tailAt: TailAt, isItsPlace: boolean) {
  // Nothing of it was read: whatever it holds now is what is to be read.
  if (identity.unmeasured) return isItsPlace || (beginsAs(file, identity) && isPackedAs(file, identity));
  if (file.unmeasured || file.size < Math.max(position, identity.seen) || !beginsAs(file, identity)) return false;
  return identity.tail === undefined || agree(await tailAt(file, identity.seen), identity.tail);
}

function named(files: readonly FoundFile[] = [], name: string): FoundFile[] {
  return files.filter(({ file }) => file === name);
}

/**
 * Many files begin with the same few bytes: with another name and inode, a short file is a copy only if it has the same length too, or if it is what rotations make: its name goes on
 * from the old one (`access.log` → `access.log.1`, `access-20261130.log.gz`), and it is compressed, or the old one was truncated.
 */
function isCopy({ identity }: WantedFile, file: FoundFile, inodes: ReadonlySet<string>): boolean {
  if (!beginsAs(file, identity)) return false;
  if (identity.bytes === fingerprintBytes || identity.seen === file.size) return true;
  return isRotatedName(file.file, identity.file) && (file.packed !== undefined || inodes.has(identity.inode));
}

/** Whether a rotation may have given a file's content this name. */
export function isRotatedName(name: string, of: string): boolean {
  const stem = posix.basename(of).split(".")[0]!;
  return stem !== "" && posix.basename(name).startsWith(stem);
}
