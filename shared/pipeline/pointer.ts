import { UsageError } from "../errors.ts";
import { kindOf } from "./kind-of.ts";

/** Gives a part of a value. */
export type Selector = (value: unknown) => unknown;

/** Under this a function that was made of a pointer, or of a tuple of them, keeps it. */
const madeOf: unique symbol = Symbol("epochflow.pointer");

/**
 * What may be a function of a value, or a JSON pointer into it, as a function. One that was made of a pointer is data still: see `pointerOf`.
 *
 * @param what for messages: "key of kafka.sink()"
 * @throws UsageError `invalid-argument`, or `invalid-pointer` for a text that is none
 */
export function toSelector<F extends (...given: never[]) => unknown>(what: string, given: F | string): F {
  if (typeof given === "function") return given;
  if (typeof given === "string") return withPointer(given, follow(tokensOf(what, given))) as unknown as F;
  throw new UsageError("invalid-argument", `${what} takes a function or a JSON pointer, not ${kindOf(given)}`, {
    wayOut: 'For instance (value) => value.user, or "/user".',
  });
}

/** The same of a function, a pointer, or a tuple of pointers. @throws UsageError as `toSelector` */
export function toKeySelector<F extends (...given: never[]) => unknown>(
  what: string,
  given: F | string | readonly string[],
): F {
  if (!Array.isArray(given)) return toSelector(what, given as F | string);
  if (given.length === 0)
    throw new UsageError("invalid-pointer", `${what} got an empty list of JSON pointers`, {
      wayOut: 'Name the fields of the key: ["/user", "/country"].',
    });
  const parts = given.map((pointer) => follow(tokensOf(what, pointer)));
  return withPointer([...given], (value: unknown) => parts.map((part) => part(value))) as unknown as F;
}

/** Says of a function that of a value it looks at no more than what the pointer leads to, or those of a tuple do. */
export function withPointer<F extends object>(pointer: string | readonly string[], select: F): F {
  return Object.assign(select, { [madeOf]: pointer });
}

/** The pointer, or the tuple of pointers, that a function was made of; undefined for a function of the user's. */
export function pointerOf(select: unknown): string | readonly string[] | undefined {
  return typeof select === "function" ? (select as { [madeOf]?: string | readonly string[] })[madeOf] : undefined;
}

/**
 * The unescaped tokens of a pointer, outermost first; none: the whole value (RFC 6901, section 3).
 *
 * @throws UsageError `invalid-pointer`
 */
export function tokensOf(what: string, pointer: unknown): readonly string[] {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/") || /~(?![01])/.test(pointer))
    throw invalidPointer(what, pointer);
  // In this order: "~01" means "~1".
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function invalidPointer(what: string, pointer: unknown): UsageError {
  const shown = typeof pointer === "string" ? JSON.stringify(pointer) : kindOf(pointer);
  if (typeof pointer !== "string" || !/^\//.test(pointer)) {
    const names = typeof pointer === "string" ? pointer.replace(/^[#$]?[./]*/, "").split(/[./]/) : ["user", "id"];
    const meant = names.map((name) => `/${name}`).join("");
    return new UsageError(
      "invalid-pointer",
      `${what} got ${shown}, which is no JSON pointer: one begins with "/", or is ""`,
      { wayOut: `Write ${JSON.stringify(meant)}, or a function.` },
    );
  }
  const meant = JSON.stringify(pointer.replace(/~(?![01])/g, "~0"));
  return new UsageError("invalid-pointer", `${what} got ${shown}, in which "~" stands neither before 0 nor before 1`, {
    wayOut: `In a JSON pointer "~0" is "~", and "~1" is "/": write ${meant}.`,
  });
}

/** As RFC 6901 has it for arrays: no sign, no leading zero. */
const arrayIndex = /^(0|[1-9]\d*)$/;

/** The index that a token is; undefined if it is none. */
export function arrayIndexOf(token: string): number | undefined {
  return arrayIndex.test(token) ? Number(token) : undefined;
}

/** What the tokens lead to; undefined where there is nothing. Own fields alone: a value has no field "constructor" by itself. */
export function follow(tokens: readonly string[]): Selector {
  const [token, ...rest] = tokens;
  if (token === undefined) return (value) => value;
  const index = arrayIndexOf(token);
  const field: Selector = (value) => {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) return index === undefined ? undefined : value[index];
    return Object.hasOwn(value, token) ? (value as Readonly<Record<string, unknown>>)[token] : undefined;
  };
  if (rest.length === 0) return field;
  const inner = follow(rest);
  return (value) => inner(field(value));
}
