import { unfit } from "./value.ts";

/** Parts of a date as Java's `DateTimeFormatter` names them, all of a fixed width, so that nothing has to stand between them. */
const letters: Readonly<Record<string, (date: Date) => number>> = {
  yyyy: (date) => date.getUTCFullYear(),
  MM: (date) => date.getUTCMonth() + 1,
  dd: (date) => date.getUTCDate(),
  HH: (date) => date.getUTCHours(),
  mm: (date) => date.getUTCMinutes(),
  ss: (date) => date.getUTCSeconds(),
};

export const dateParts = Object.keys(letters);

/** Beginning of the year 0 and of the year 10,000: between them a year has four digits. */
const [firstMs, endMs] = [-62_167_219_200_000, 253_402_300_800_000];

/**
 * A part of a time in UTC.
 *
 * @param value epoch milliseconds, or a `Date`
 * @throws UserCodeError `row-without-path` for what is no time
 */
export function datePart(value: unknown, field: string, part: string): string {
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time !== "number" || !(time >= firstMs && time < endMs))
    throw unfit(field, "no time in epoch milliseconds");
  return String(letters[part]!(new Date(time))).padStart(part.length, "0");
}
