import type { Measured } from "../compression/measure.ts";
import { Turn } from "../compression/turn.ts";
import { incomplete } from "../lines/input-errors.ts";
import { beginsWithMark } from "../lines/text-checks.ts";
import { isRotatedName } from "./assign.ts";
import type { Contents } from "./contents.ts";
import { beginsAs, type FoundFile, isPackedAs } from "./found-file.ts";
import type { FileIdentity, WantedFile } from "./identity.ts";
import { mapParallel, type Place } from "./input-folder.ts";

/** Clocks of file systems tick slowly: a file that changed so lately may change again, and be as long and as old as before. */
const racyMs = 2000;
/** A compressed file whose stream is not whole is taken for one that is being written, unless it has rested for so long. */
const restsMs = 10 * 60_000;

interface Look {
  readonly found: FoundFile;
  readonly isSettled: boolean;
  measured?: Measured | "incomplete";
}

export interface LooksOptions {
  readonly contents: Contents;
  /** Nobody is waited for. */
  readonly bounded: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What was seen of the files: one that did not change since is not opened again. */
export class Looks {
  readonly #contents: Contents;
  readonly #bounded: boolean;
  readonly #now: () => number;
  #byInode = new Map<string, Look>();

  constructor({ contents, bounded, now }: LooksOptions) {
    this.#contents = contents;
    this.#bounded = bounded;
    this.#now = now;
  }

  /** The files at these places, but for those that are empty, and those that vanish meanwhile. */
  async at(places: readonly Place[]): Promise<FoundFile[]> {
    const found = await mapParallel(places, (place) => this.#look(place));
    return found.flatMap((one) => (one === undefined || isEmpty(one) ? [] : [one]));
  }

  /** Only the files that are there need to be known. */
  forget(inodes: ReadonlySet<string>): void {
    for (const inode of this.#byInode.keys()) if (!inodes.has(inode)) this.#byInode.delete(inode);
  }

  /**
   * The same files, with the sizes of compressed ones: from the ledger, or from decompressing them. That is done for few at a time, as their records are to be read next, and for
   * those that may be copies of known files. Those that are being written are left out.
   *
   * @param inodes of all files that there are
   * @throws LossError `input-damaged`, `input-incomplete`
   */
  async measured(
    files: readonly FoundFile[],
    wanted: readonly WantedFile[],
    inodes: ReadonlySet<string>,
  ): Promise<FoundFile[]> {
    const plain = new Map(files.flatMap((one) => (one.packed ? [] : [[one.file, one] as const])));
    const missing = wanted.filter(({ identity }) => !identity.packed && !inodes.has(identity.inode));
    const streams = Map.groupBy(wanted, ({ identity }) => identity.packed?.bytes);
    const turn = new Turn();
    const sized = files.map((found) => {
      if (!isPacked(found)) return { found, isSized: true };
      const original = plain.get(found.file.replace(/\.[^./]+$/, ""));
      const known = streams
        .get(found.packed.bytes)
        ?.find(({ identity }) => isSameStream(found, identity, original !== undefined));
      if (known === undefined) return { found, original, isSized: false };
      turn.take(known.identity.seen - known.position);
      return { found: asKnown(found, known.identity), isSized: true };
    });
    const result: FoundFile[] = [];
    for (const { found, original, isSized } of sized) {
      if (isSized || !isPacked(found)) {
        result.push(found);
        continue;
      }
      const isCopy = original !== undefined || missing.some(({ identity }) => isCopyName(found, identity));
      const one = isCopy || turn.isOpen ? await this.#measure(found, original) : found;
      if (one === undefined) continue;
      result.push(one);
      if (!one.unmeasured) turn.take(one.size);
    }
    return result;
  }

  async #look(place: Place): Promise<FoundFile | undefined> {
    const { file, path, inode, size, changedAt } = place;
    const known = this.#byInode.get(inode);
    const stored = known?.found.packed?.bytes ?? known?.found.size;
    if (known?.isSettled && stored === size && known.found.changedAt === changedAt)
      return { ...known.found, file, path };
    const found = await this.#contents.look(file, path);
    if (found) this.#byInode.set(found.inode, { found, isSettled: this.#now() - found.changedAt > racyMs });
    return found;
  }

  /** Undefined if there is nothing in it that is not elsewhere, or not yet. @param original what it may be a compressed copy of, which is still there */
  async #measure(found: PackedFile, original: FoundFile | undefined): Promise<FoundFile | undefined> {
    const measured = await this.#measurement(found);
    if (measured === "incomplete") {
      const rests = this.#bounded || this.#now() - found.changedAt >= restsMs;
      if (original !== undefined || !rests) return undefined;
      throw incomplete(found.path, found.packed.format);
    }
    if (measured.size === 0) return undefined;
    const isTwin =
      original !== undefined &&
      original.size >= measured.size &&
      (await this.#contents.tailAt(original, measured.size)) === measured.tail;
    return isTwin ? undefined : { ...asMeasured(found), ...measured };
  }

  async #measurement(found: PackedFile): Promise<Measured | "incomplete"> {
    const look = this.#byInode.get(found.inode);
    const isSame = look !== undefined && isPackedAs(look.found, found);
    if (isSame && look.measured !== undefined) return look.measured;
    const measured = await this.#contents.measure(found);
    if (isSame) look.measured = measured;
    return measured;
  }
}

type PackedFile = FoundFile & Required<Pick<FoundFile, "packed">>;

function isPacked(found: FoundFile): found is PackedFile {
  return found.packed !== undefined;
}

/** Empty but for the mark that some programs put before any text. */
function isEmpty({ head, packed }: FoundFile): boolean {
  return packed === undefined && (head.length === 0 || (head.length === 3 && beginsWithMark(head)));
}

/** @param exactly not a copy of it, which another file with the same content may be */
function isSameStream(found: FoundFile, identity: FileIdentity, exactly: boolean): boolean {
  if (exactly && found.inode !== identity.inode) return false;
  return identity.unmeasured === undefined && isPackedAs(found, identity) && beginsAs(found, identity);
}

/** What is missing may have been compressed. */
function isCopyName(found: FoundFile, identity: FileIdentity): boolean {
  return isRotatedName(found.file, identity.file) && beginsAs(found, identity);
}

function asMeasured({ unmeasured: _, ...found }: FoundFile): FoundFile {
  return found;
}

/** As it was measured before. */
function asKnown(found: FoundFile, { seen, seenInLine, tail }: FileIdentity): FoundFile {
  return { ...asMeasured(found), size: seen, endsInLine: seenInLine, tail: tail ?? "" };
}
