import { LossError } from "../../errors.ts";
import type { SourceRange } from "../../ports/source.ts";
import { replaced, shrank, vanished } from "../lines/input-errors.ts";
import { assign, isRotatedName } from "./assign.ts";
import type { Contents, OpenInput } from "./contents.ts";
import { beginsAs, type FoundFile, isPackedAs } from "./found-file.ts";
import { type FileIdentity, type WantedFile, wantedFile } from "./identity.ts";
import type { InputFolder, Place } from "./input-folder.ts";
import { lookingAgain } from "./looking-again.ts";
import type { Looks } from "./looks.ts";

/** What there is of the input. */
export interface Survey {
  readonly located: ReadonlyMap<WantedFile, FoundFile>;
  /** Files of the input, in the order of their names. */
  readonly found: readonly FoundFile[];
}

/** Finds and opens the files of partitions, wherever a rotation, a restore or a copy has put them. */
export class Locator {
  readonly #folder: InputFolder;
  readonly #looks: Looks;
  readonly #contents: Contents;

  constructor(folder: InputFolder, looks: Looks, contents: Contents) {
    this.#folder = folder;
    this.#looks = looks;
    this.#contents = contents;
  }

  /** The files of partitions, among those of the input, or else beside it. */
  async survey(wanted: readonly WantedFile[]): Promise<Survey> {
    const { input, beside } = await this.#folder.places();
    const inodes = new Set(input.map(({ inode }) => inode));
    const found = await this.#looks.measured(await this.#looks.at(input), wanted, inodes);
    const located = await assign(wanted, found, { inodes, tailAt: this.#contents.tailAt });
    const missing = wanted.filter((one) => !located.has(one));
    const others = missing.length === 0 ? [] : await beside();
    for (const { inode } of others) inodes.add(inode);
    this.#looks.forget(inodes);
    if (missing.length === 0) return { located, found };
    const besides = await this.#besides(missing, others, inodes);
    const more = await assign(missing, besides, { inodes, tailAt: this.#contents.tailAt });
    return { located: new Map([...located, ...more]), found };
  }

  /**
   * Opens the file of a range, which is there whole, and begins as its identity says.
   *
   * @throws LossError if there is none (I8)
   */
  async open(range: SourceRange): Promise<OpenInput> {
    const wanted = wantedFile({ ...range, position: range.to });
    const { identity } = wanted;
    const there = await this.#lookAt(identity);
    if (there !== undefined && isUnmoved(there, wanted)) return await this.#contents.open(there);
    return await lookingAgain(async () => {
      const { located, found } = await this.survey([wanted]);
      const moved = located.get(wanted);
      if (moved !== undefined) return await this.#contents.open(moved);
      throw await this.loss(wanted, { read: range.from, needed: range.to }, found);
    });
  }

  /** Undefined, too, if it is truncated at this moment. */
  async #lookAt(identity: FileIdentity): Promise<FoundFile | undefined> {
    try {
      return await this.#contents.look(identity.file, await this.#folder.pathOf(identity));
    } catch (error) {
      if (error instanceof LossError) return undefined;
      throw error;
    }
  }

  /** What happened to a file of which `read` bytes are read, and `needed` were there. */
  async loss(
    wanted: WantedFile,
    { read, needed }: { read: number; needed: number },
    found: readonly FoundFile[],
  ): Promise<LossError> {
    const { identity } = wanted;
    const there = found.find((one) => isShortened(one, wanted)) ?? found.find(({ file }) => file === identity.file);
    const length = Math.max(read, needed);
    if (there === undefined) return vanished(await this.#folder.pathOf(identity), read);
    return there.size < length ? shrank(there.path, there.size, length) : replaced(there.path, read);
  }

  /** A rotation keeps the inode, or makes a copy whose name goes on from the old one's. */
  async #besides(missing: readonly WantedFile[], places: readonly Place[], inodes: ReadonlySet<string>) {
    const wanted = new Set(missing.map(({ identity }) => identity.inode));
    const may = ({ file, inode }: Place) =>
      wanted.has(inode) || missing.some(({ identity }) => isRotatedName(file, identity.file));
    const found = await this.#looks.at(places.filter(may));
    return (await this.#looks.measured(found, missing, inodes)).filter((one) => !one.unmeasured);
  }
}

/** In its place, with what is needed of it. */
function isUnmoved(found: FoundFile, { identity, position }: WantedFile): boolean {
  if (found.inode !== identity.inode || !beginsAs(found, identity)) return false;
  return identity.packed ? isPackedAs(found, identity) : found.packed === undefined && found.size >= position;
}

/** The same file by its fingerprint, but shorter than what was read of it. */
function isShortened(found: FoundFile, { identity, position }: WantedFile): boolean {
  return found.size < Math.max(position, identity.seen) && beginsAs(found, identity);
}
