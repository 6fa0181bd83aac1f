import { posix } from "node:path";

/** One pattern or several. */
export type Patterns = string | readonly string[];

export interface NameOptions {
  readonly include?: Patterns;
  readonly exclude?: Patterns;
}

/**
 * Which of a folder's files are input, by their path below it. Names that begin with `.` or `_`, and all in folders that are named so, never are: hidden files, and
 * those that other programs set aside. A pattern without `/` is for the name alone, at any depth, and one with `/` for the whole path; `*` and `?` stand for
 * anything but `/`, `**` for any folders, and there are `[a-z]` and `{a,b}`.
 */
export class FileNames {
  readonly #include: readonly string[] | undefined;
  readonly #exclude: readonly string[];

  constructor({ include, exclude }: NameOptions) {
    this.#include = include === undefined ? undefined : [include].flat();
    this.#exclude = exclude === undefined ? [] : [exclude].flat();
  }

  /** There is anything to choose by. */
  get choose(): boolean {
    return this.#include !== undefined || this.#exclude.length > 0;
  }

  isInput(file: string): boolean {
    if (file.split("/").some((part) => !isVisible(part))) return false;
    return (this.#include === undefined || matches(file, this.#include)) && !matches(file, this.#exclude);
  }
}

export function isVisible(name: string): boolean {
  return !name.startsWith(".") && !name.startsWith("_");
}

function matches(file: string, patterns: readonly string[]): boolean {
  const name = posix.basename(file);
  return patterns.some((pattern) => posix.matchesGlob(pattern.includes("/") ? file : name, pattern));
}
