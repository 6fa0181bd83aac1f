import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { UserCodeError } from "../errors.ts";

/** Bytes of a part of a path: file systems take 255, and a file's own ending may follow. */
export const longestComponent = 200;
/** Hexadecimal digits of the hash that a longer one ends in. */
const hashDigits = 32;
/** Never in an encoded value, whose `%` stand before two hexadecimal digits: so no shortened component is like one that was short. */
const shortened = "%%";

/**
 * A text as a part of a path: percent-encoded, but for `a-z`, `0-9`, `-` and `_`, so that capitals differ from small letters where a file system ignores case, and it
 * is never `.` or `..`. Injective. A leading `_` is encoded, too: Spark, Hive and `files.source` pass over such folders. An empty text is a single `%`.
 *
 * @param separators characters that follow this value in the template, and so must not be in it
 */
export function encodeValue(text: string, separators = ""): string {
  if (text === "") return "%";
  return text.replace(/[^a-z0-9]/gu, (character, at: number) => {
    const stays = (character === "-" || (character === "_" && at > 0)) && !separators.includes(character);
    return stays ? character : percent(character);
  });
}

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

/** A component that is too long ends in a hash of all of it. */
export function shorten(component: string): string {
  if (Buffer.byteLength(component) <= longestComponent) return component;
  const hash = createHash("sha256").update(component).digest("hex").slice(0, hashDigits);
  const room = longestComponent - hashDigits - shortened.length;
  // Whole characters: a template may have others than ASCII.
  return new StringDecoder().write(Buffer.from(component).subarray(0, room)) + shortened + hash;
}

/**
 * What a field's value is in a path. A tuple's parts stand behind commas, which no encoded text has.
 *
 * @throws UserCodeError `row-without-path` for what has no place in one
 */
export function pathValue(value: unknown, field: string, separators: string): string {
  if (!Array.isArray(value)) return encodeValue(textOf(value, field), separators);
  const parts = value.map((part) => encodeValue(textOf(part, field), separators));
  return parts.length > 1 ? parts.join(",") : `${parts.join("")},`;
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") {
    if (value.isWellFormed()) return value;
    throw unfit(field, "a text with half a surrogate pair");
  }
  if (typeof value === "boolean" || typeof value === "bigint" || Number.isFinite(value)) return String(value);
  if (typeof value === "number") throw unfit(field, String(value));
  throw unfit(
    field,
    value === null || value === undefined ? String(value) : Array.isArray(value) ? "a list" : `of type ${typeof value}`,
  );
}

export function unfit(field: string, what: string): UserCodeError {
  return new UserCodeError("row-without-path", `its field "${field}" is ${what}, of which no path can be made`, {
    wayOut: "Give the field a text, a number, a boolean or a tuple of them, or filter such rows before the sink.",
  });
}
