import { InfrastructureError, type LossError } from "../../errors.ts";
import type { SourceRange } from "../../ports/source.ts";
import { replaced, shrank, vanished } from "../lines/input-errors.ts";
import {
  assign,
  type FileIdentity,
  type FoundFile,
  fingerprintBytes,
  hasFingerprint,
  type WantedFile,
  wantedFile,
} from "./identity.ts";
import { InputFile, type ReadableFileSystem } from "./input-file.ts";
import type { InputFolder } from "./input-folder.ts";

/** Finds and opens the files of partitions, wherever a rotation, a restore or a copy has put them. */
export class Locator {
  readonly #system: ReadableFileSystem;
  readonly #folder: InputFolder;

  constructor(system: ReadableFileSystem, folder: InputFolder) {
    this.#system = system;
    this.#folder = folder;
  }

  /** The files of partitions, among those found in the input's folder, or else beside the input. */
  async find(wanted: readonly WantedFile[], found: readonly FoundFile[]): Promise<Map<WantedFile, FoundFile>> {
    const located = assign(wanted, found);
    const missing = wanted.filter((one) => !located.has(one));
    if (missing.length === 0) return located;
    const renamed = await this.#folder.renamed(new Set(missing.map(({ identity }) => identity.inode)));
    return new Map([...located, ...assign(missing, renamed)]);
  }

  /**
   * Opens the file of a range, which is there whole, and begins as its identity says.
   *
   * @throws LossError if there is none (I8)
   */
  async open(range: SourceRange): Promise<InputFile> {
    const wanted = wantedFile({ ...range, position: range.to });
    const { identity } = wanted;
    const path = await this.#folder.pathOf(identity);
    const file = await this.#openSame(wanted, { path, inode: identity.inode });
    if (file !== undefined) return file;
    const found = await this.#folder.list();
    const moved = (await this.find([wanted], found)).get(wanted);
    const movedFile = moved && (await this.#openSame(wanted, moved));
    if (movedFile !== undefined) return movedFile;
    throw await this.loss(wanted, { read: range.from, needed: range.to }, found);
  }

  async openFound({ path, inode }: FoundFile): Promise<InputFile> {
    const file = await InputFile.open(this.#system, path);
    if (file?.inode === inode) return file;
    await file?.close();
    throw new InfrastructureError("input-moving", `${path} was moved while it was looked at`, {
      place: { file: path },
    });
  }

  /** What happened to a file of which `read` bytes are read, and `needed` were there. */
  async loss(
    wanted: WantedFile,
    { read, needed }: { read: number; needed: number },
    found: readonly FoundFile[],
  ): Promise<LossError> {
    const there =
      found.find((one) => isShortened(wanted, one)) ?? found.find((one) => one.file === wanted.identity.file);
    const length = Math.max(read, needed);
    if (there === undefined) return vanished(await this.#folder.pathOf(wanted.identity), read);
    return there.size < length ? shrank(there.path, there.size, length) : replaced(there.path, read);
  }

  async #openSame(wanted: WantedFile, at: { path: string; inode: string }): Promise<InputFile | undefined> {
    const file = await InputFile.open(this.#system, at.path);
    let same = false;
    try {
      same = file?.inode === at.inode && file.size >= wanted.position && (await begins(file, wanted.identity));
    } finally {
      if (!same) await file?.close();
    }
    return same ? file : undefined;
  }
}

async function begins(file: InputFile, identity: FileIdentity): Promise<boolean> {
  return hasFingerprint(await file.head(fingerprintBytes), identity);
}

/** The same file by its fingerprint, but shorter than what was read of it. */
export function isShortened({ identity, position }: WantedFile, { size, head }: FoundFile): boolean {
  return size < Math.max(position, identity.seen) && hasFingerprint(head, identity);
}
