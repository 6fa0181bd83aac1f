import { UsageError } from "../errors.ts";

/** How a text is cut into pieces, as data, so that bytes can be cut as well: at each `separator`, or, without one, into words. */
export interface TextSplit {
  readonly separator?: string;
}

const words = /[^\t-\r ]+/g;

/** The pieces of a text: its words, the runs between ASCII white space, or what `String.prototype.split` makes of it. */
export function splitFunction({ separator }: TextSplit): (text: string) => readonly string[] {
  return separator === undefined ? (text) => text.match(words) ?? [] : (text) => text.split(separator);
}

/** A lone surrogate would cut characters into halves, which are no texts. @throws UsageError `invalid-argument` */
export function checkSeparator(given: unknown): string {
  if (typeof given === "string" && given !== "" && given.isWellFormed()) return given;
  const problem =
    given === "" ? "an empty one" : typeof given === "string" ? "half a character" : `one of type ${typeof given}`;
  throw new UsageError("invalid-argument", `The separator of .split() is a text, not ${problem}`, {
    wayOut: 'For instance .split(","). At white space: .words(). By a pattern: .flatMap((line) => line.split(/[,;]/)).',
  });
}
