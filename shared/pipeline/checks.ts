import { UsageError } from "../errors.ts";
import type { Aggregate } from "../operators/aggregates.ts";
import { kindOf } from "./kind-of.ts";
import { tokensOf } from "./pointer.ts";
import type { SinkDescription } from "./topology.ts";

/** Columns that a window's rows have anyway, and the one name that is no ordinary property. */
const takenColumns = new Set(["key", "windowStart", "windowEnd", "__proto__"]);
const aggregateParts = ["init", "add", "merge", "result"] as const;

/** @throws UsageError `invalid-argument` */
export function checkFunction(what: string, given: unknown): void {
  if (typeof given !== "function")
    throw new UsageError("invalid-argument", `${what} takes a function, not ${kindOf(given)}`);
}

/** @throws UsageError `invalid-argument` */
export function checkSink(what: string, given: SinkDescription): void {
  const isSource = given?.value !== undefined;
  if (typeof given?.kind === "string" && typeof given.options === "object" && !isSource) return;
  throw new UsageError("invalid-argument", `${what} takes a sink, not ${isSource ? "a source" : kindOf(given)}`, {
    wayOut: 'For instance files.sink({ path: "out" }).',
  });
}

/** @throws UsageError `invalid-argument`, `invalid-pointer` */
export function checkFields(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = Object.keys(fields ?? {});
  if (typeof fields !== "object" || names.length === 0 || names.includes("__proto__")) {
    throw new UsageError("invalid-argument", ".select() takes the fields of its rows, each with a JSON pointer", {
      wayOut: 'For instance .select({ word: "/key", count: "/count" }).',
    });
  }
  for (const name of names) tokensOf(`"${name}" of .select()`, fields[name]);
  return { ...fields };
}

/** @throws UsageError `invalid-aggregate` */
export function checkAggregates(aggregates: Readonly<Record<string, Aggregate<never, unknown, unknown>>>): void {
  const names = Object.keys(aggregates ?? {});
  const taken = names.find((name) => takenColumns.has(name));
  if (taken !== undefined) {
    throw new UsageError(
      "invalid-aggregate",
      `An aggregate cannot be called "${taken}": rows have that column already`,
    );
  }
  const wrong = names.find((name) => aggregateParts.some((part) => typeof aggregates[name]?.[part] !== "function"));
  if (names.length > 0 && wrong === undefined) return;
  const problem =
    wrong === undefined ? "no aggregate" : `"${wrong}", which is no aggregate but ${kindOf(aggregates[wrong])}`;
  throw new UsageError("invalid-aggregate", `.aggregate() got ${problem}`, {
    wayOut: "Give each a name, and call the built-in ones: .aggregate({ visits: count() }).",
  });
}
