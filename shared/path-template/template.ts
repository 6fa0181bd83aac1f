import { UserCodeError } from "../errors.ts";
import { didYouMean } from "../options.ts";
import { datePart } from "./date.ts";
import { type Component, type Piece, parseTemplate } from "./parse.ts";
import { pathValue, shorten } from "./value.ts";

/** Bytes of a folder below the output: with what stands before and after it, it fits a key of S3, which takes 1,024. */
const longestPath = 800;

/**
 * Folders by fields of rows: `{windowStart:yyyy/MM/dd}/{key}` gives `2026/11/30/%42erlin`. Rows whose values differ are in different folders, on file systems that ignore
 * case, too.
 */
export class PathTemplate {
  readonly #components: readonly Component[];

  /** @throws UsageError `invalid-path-template` */
  constructor(template: string) {
    this.#components = parseTemplate(template);
  }

  /**
   * The folder of a row: a relative path, with `/` between its parts, and no `.` or `..` among them.
   *
   * @throws UserCodeError `row-without-path`: a field is missing, or no path can be made of it
   */
  folderOf(row: unknown): string {
    const folder = this.#components
      .map((component) => shorten(component.map((piece) => textOf(piece, row)).join("")))
      .join("/");
    if (Buffer.byteLength(folder) <= longestPath) return folder;
    throw new UserCodeError("row-without-path", `its path would be longer than ${longestPath} bytes`, {
      wayOut: "Name fewer fields in the template, or shorter ones.",
    });
  }
}

function textOf(piece: Piece, row: unknown): string {
  if (piece.kind === "literal") return piece.text;
  const value = valueAt(row, piece.field);
  const field = piece.field.join(".");
  return piece.kind === "date" ? datePart(value, field, piece.part) : pathValue(value, field, piece.separators);
}

/** Own fields alone: a row has no field "constructor" by itself. */
function valueAt(row: unknown, way: readonly string[]): unknown {
  let value = row;
  for (const name of way) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) throw missing(way, name, value);
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function missing(way: readonly string[], name: string, value: unknown): UserCodeError {
  const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return new UserCodeError(
    "row-without-path",
    `it has no field "${way.join(".")}", which its path needs.${didYouMean(name, names)}`,
    {
      wayOut: "Name another field in the template, or filter such rows before the sink.",
    },
  );
}
