import { UsageError } from "../errors.ts";
import { tokensOf } from "../pipeline/pointer.ts";
import { dateParts } from "./date.ts";

/** A piece of a component of a path. `field` is the way to a value, outermost name first. */
export type Piece =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "date"; readonly field: readonly string[]; readonly part: string }
  /** `separators`: what a value must not hold, since it ends there. */
  | { readonly kind: "value"; readonly field: readonly string[]; readonly separators: string };

export type Component = readonly Piece[];

/** A literal brace is doubled; a placeholder is a field, and perhaps a pattern. */
const token = /\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}|[{}]|[^{}]+/g;
/** What some file system or reader takes for something else, and `%`, which is the mark of what is encoded. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it is about
const forbidden = /[\u0000-\u001f\u007f\\:*?"<>|%]/;
const wayToField = /^[^\s./]+(\.[^\s./]+)*$/;

/** @throws UsageError `invalid-path-template` */
export function parseTemplate(template: string): Component[] {
  const fail = (problem: string, wayOut: string) =>
    new UsageError(
      "invalid-path-template",
      `The path template ${JSON.stringify(template)} is not possible: ${problem}`,
      { wayOut },
    );
  const components = split(piecesOf(template, fail));
  if (!components.flat().some(({ kind }) => kind !== "literal"))
    throw fail("it names no field", 'Name one of the rows\' fields, as in "{windowStart:yyyy/MM/dd}/{key}".');
  for (const component of components) checkComponent(component, fail);
  return components.map((component) => separated(component, fail));
}

type Fail = (problem: string, wayOut: string) => UsageError;

function piecesOf(template: string, fail: Fail): Piece[] {
  const pieces: Piece[] = [];
  for (const [text, name, pattern] of template.matchAll(token)) {
    if (text === "{{" || text === "}}") pieces.push(literal(text.charAt(0)));
    else if (text === "{" || text === "}")
      throw fail(`it has a lonely "${text}"`, 'Write "{{" and "}}" for braces that mean themselves.');
    else if (name === undefined) pieces.push(literal(text));
    else pieces.push(...placeholder(name, pattern, fail));
  }
  return pieces;
}

const literal = (text: string): Piece => ({ kind: "literal", text });

function placeholder(name: string, pattern: string | undefined, fail: Fail): Piece[] {
  const isPointer = name.startsWith("/");
  if (!isPointer && !wayToField.test(name))
    throw fail(`"{${name}}" names no field`, "Write {field}, {field.inner}, or {key.0} for a part of a tuple.");
  const field = isPointer ? tokensOf(`the path template "{${name}}"`, name) : name.split(".");
  if (pattern === undefined) return [{ kind: "value", field, separators: "" }];
  const parts = pattern.match(/([a-zA-Z])\1*|[^a-zA-Z]+/g) ?? [];
  const wrong = parts.find((part) => /[a-zA-Z]/.test(part) && !dateParts.includes(part));
  if (parts.length === 0 || wrong !== undefined)
    throw fail(
      `"${wrong ?? ""}" is no part of a date`,
      `A date is made of ${dateParts.join(", ")}, in UTC, and of what is no letter.`,
    );
  return parts.map((part) => (dateParts.includes(part) ? { kind: "date", field, part } : literal(part)));
}

/** Wherever a slash is, also within a date, a component ends. */
function split(pieces: readonly Piece[]): Piece[][] {
  const components: Piece[][] = [[]];
  for (const piece of pieces) {
    if (piece.kind !== "literal") {
      components.at(-1)!.push(piece);
      continue;
    }
    for (const [index, text] of piece.text.split("/").entries()) {
      if (index > 0) components.push([]);
      if (text !== "") components.at(-1)!.push(literal(text));
    }
  }
  return components;
}

function checkComponent(component: Component, fail: Fail): void {
  const [first] = component;
  if (first === undefined)
    throw fail("a folder has no name", "Take away the slash at its beginning or end, and double ones.");
  if (first.kind === "literal" && first.text.startsWith("."))
    throw fail("a folder's name begins with a dot", "Such folders are hidden, and one of them is the sink's own.");
  for (const piece of component)
    if (piece.kind === "literal" && forbidden.test(piece.text))
      throw fail(
        `"${piece.text}" has a character that cannot be in every path`,
        'Leave out control characters and \\ : * ? " < > | %.',
      );
}

/** Where several values share a component, each must end where one can see it: else two pairs of values could give one path. */
function separated(component: Component, fail: Fail): Component {
  const last = component.findLastIndex(({ kind }) => kind === "value");
  return component.map((piece, index): Piece => {
    if (piece.kind !== "value" || index === last) return piece;
    const next = component[index + 1]!;
    const end = next.kind === "literal" ? next.text.charAt(0) : "";
    if (/^[a-z0-9,]?$/.test(end))
      throw fail(
        `one could not tell where {${piece.field.join(".")}} ends`,
        'Put a slash, "-", "_", "=" or "." between two fields.',
      );
    return { ...piece, separators: /[-_]/.test(end) ? end : "" };
  });
}
