import { UsageError, UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import { checkOptions } from "../../options.ts";
import type { Encoder } from "../topology.ts";

export interface CsvOptions<T> {
  /** Fields of a row, in order; what else a row has is not written. */
  readonly columns: readonly (keyof T & string)[];
  /** Whether each file begins with a line of the columns' names; default true. */
  readonly header?: boolean;
  /** Between values; a single character, default a comma. */
  readonly delimiter?: string;
  /** After each row; default "\n". RFC 4180 has "\r\n". */
  readonly lineEnd?: "\n" | "\r\n";
}

/**
 * Rows as comma-separated values (RFC 4180): a value with a delimiter, quote or line end in it is quoted, and quotes in it are doubled. Null and undefined are empty,
 * an empty text is `""`, as PostgreSQL and DuckDB read them. Numbers, bigints and booleans are written as JavaScript has them, a `Date` in ISO 8601, lists and objects
 * as JSON. A cell may begin with `=`: what a spreadsheet makes of it is not this format's business.
 *
 * @throws UsageError `invalid-option` for columns or a delimiter that are not possible
 */
export function csv<T>(given: CsvOptions<T>): Encoder<T> {
  const what = "csv()";
  checkOptions(what, given, ["columns", "header", "delimiter", "lineEnd"]);
  const { columns, header = true, delimiter = ",", lineEnd = "\n" } = given;
  checkColumns(columns);
  if (typeof header !== "boolean") throw invalid(`header of ${what} must be true or false`);
  if (lineEnd !== "\n" && lineEnd !== "\r\n") throw invalid(`lineEnd of ${what} must be "\\n" or "\\r\\n"`);
  if (typeof delimiter !== "string" || !/^[^"\r\n\ud800-\udfff]$/.test(delimiter))
    throw invalid(`delimiter of ${what} must be a single character, and neither a quote nor a line end`);
  const line = lineOf(delimiter);
  return {
    name: "csv",
    file: { extension: "csv", lineEnd, ...(header && { header: line(columns) }), ownLineBreaks: true },
    encode(row) {
      if (typeof row !== "object" || row === null)
        throw new UserCodeError("row-not-csv", `it is no object with the fields ${columns.join(", ")}`);
      return line(columns.map((column) => (Object.hasOwn(row, column) ? row[column] : undefined)));
    },
  };
}

/** They are given rather than found: the first row of a file is another one with another number of tasks, and its fields may be others. */
function checkColumns(columns: readonly string[]): void {
  const isName = (name: unknown) => typeof name === "string" && name.isWellFormed();
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every(isName))
    throw invalid("csv() needs its columns", 'List the fields: csv({ columns: ["key", "windowStart", "count"] }).');
  const twice = columns.find((name, index) => columns.indexOf(name) < index);
  if (twice !== undefined) throw invalid(`csv() has the column "${twice}" twice`);
}

function lineOf(delimiter: string): (values: readonly unknown[]) => string {
  const special = new RegExp(`["\r\n${delimiter.replace(/[\\\]^-]/, "\\$&")}]`);
  const cell = (value: unknown): string => {
    const text = textOf(value);
    if (text === undefined) return "";
    return text === "" || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (values) => {
    const line = values.map(cell).join(delimiter);
    // A line with nothing in it is no row to most readers.
    return line === "" ? '""' : line;
  };
}

/** Undefined: there is no value. */
function textOf(given: unknown): string | undefined {
  const value = hasOwnJson(given) ? given.toJSON() : given;
  if (value === null || value === undefined) return undefined;
  if (typeof value === "object") return toJsonText(value);
  if (typeof value === "function" || typeof value === "symbol")
    throw new UserCodeError("row-not-csv", `a value is a ${typeof value}`);
  const text = String(value);
  if (text.isWellFormed()) return text;
  throw new UserCodeError("row-not-csv", "a text has half a surrogate pair");
}

/** As dates and decimals have it. */
function hasOwnJson(value: unknown): value is { toJSON(): unknown } {
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";
}

function invalid(message: string, wayOut?: string): UsageError {
  return new UsageError("invalid-option", message, wayOut === undefined ? {} : { wayOut });
}
