import { UsageError } from "../../errors.ts";
import type { Decoder } from "../topology.ts";
import { decodeText } from "./text.ts";
import { undecodable } from "./undecodable.ts";

/**
 * Each record is a text that the regular expression matches; the value holds its named groups, those that took no part as "". Name them
 * in the type, too: `pattern<"time" | "status">(/…/)`. Anchor it with ^ and $ unless the rest of the text may be anything.
 *
 * @throws UsageError `invalid-pattern` if it has no named groups, or one of the flags `g` and `y`, which make matches depend on those before
 */
export function pattern<Names extends string = string>(expression: RegExp): Decoder<Readonly<Record<Names, string>>> {
  const names = groupNames(expression);
  return {
    name: "pattern",
    decode(bytes, start, end) {
      const groups = expression.exec(decodeText(bytes, start, end))?.groups;
      if (groups === undefined) throw undecodable("does not match the regular expression of pattern()");
      const value: Record<string, string> = {};
      for (const name of names) value[name] = groups[name] ?? "";
      return value as Record<Names, string>;
    },
  };
}

function groupNames(expression: RegExp): string[] {
  if (!(expression instanceof RegExp)) throw new UsageError("invalid-pattern", "pattern() takes a regular expression");
  if (expression.global || expression.sticky) {
    throw new UsageError(
      "invalid-pattern",
      `pattern() takes no regular expression with the flags g or y: ${expression}`,
    );
  }
  // With an empty alternative it matches the empty text, and shows all of its groups.
  const groups = new RegExp(`${expression.source}|`, expression.flags).exec("")?.groups ?? {};
  const names = Object.keys(groups);
  if (names.length > 0 && !names.includes("__proto__")) return names;
  throw new UsageError("invalid-pattern", `The regular expression of pattern() has no named groups: ${expression}`, {
    wayOut: "Name what you want to use: /^(?<time>\\S+) (?<status>\\d+)$/.",
  });
}
