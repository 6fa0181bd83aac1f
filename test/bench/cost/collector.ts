import type { Charge, Span } from "./charge.ts";
import { writeUnitsOf } from "./dynamodb-units.ts";

/** What the collector does to an epoch once it is old is the last of its costs, and comes after a measurement; so it is computed. */
const marking: ReadonlySet<string> = new Set([
  "DynamoDB TransactWriteItems of EPOCH, check HEAD",
  "DynamoDB PutItem of EPOCH",
]);

/**
 * Charges as they are once as many epochs are collected as are made: each checkpoint is marked as dropped, for what that has cost so far, and each row of an epoch is
 * deleted. What the collector has marked while it was measured does not count besides.
 *
 * @param charges of the whole run
 * @param rows sort keys and bytes of the rows in the table
 * @param epochs how many were measured
 */
export function withCollection(
  charges: readonly Charge[],
  rows: readonly (readonly [key: string, bytes: number])[],
  epochs: number,
  { to: at }: Span,
): Charge[] {
  const ofEpochs = rows.filter(([key]) => key.startsWith("EPOCH#"));
  const known = ofEpochs.filter(([key]) => /^EPOCH#\d+$/.test(key)).length;
  const deleting = ofEpochs.reduce((sum, [, bytes]) => sum + writeUnitsOf(bytes), 0) / Math.max(1, known);
  const marked = charges.filter(({ what }) => marking.has(what));
  const dropping = marked.reduce((sum, { usage }) => sum + (usage.writeUnits ?? 0), 0) / Math.max(1, marked.length);
  return [
    ...charges.filter(({ what }) => !marking.has(what)),
    ...Array.from({ length: epochs }, () => [
      { at, what: "collector: a checkpoint is marked as dropped", usage: { writeUnits: dropping } },
      { at, what: "collector: an epoch's rows are deleted", usage: { writeUnits: deleting } },
    ]).flat(),
  ];
}
