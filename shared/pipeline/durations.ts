import { UsageError } from "../errors.ts";

const units = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1_000 },
  { name: "millisecond", ms: 1 },
] as const;

/** Each gives milliseconds, and throws UsageError `invalid-duration` for a fraction of a millisecond. Only a window's offset may be negative. */
export const milliseconds = (amount: number): number => duration(amount, 1, "milliseconds");
export const seconds = (amount: number): number => duration(amount, 1_000, "seconds");
export const minutes = (amount: number): number => duration(amount, 60_000, "minutes");
export const hours = (amount: number): number => duration(amount, 3_600_000, "hours");
/** Days of 24 hours: event time is in UTC. */
export const days = (amount: number): number => duration(amount, 86_400_000, "days");

/** Floats such as 0.07 × 1000 are a hair off the whole number that was meant. */
const rounding = 1e-6;

function duration(amount: number, unitMs: number, unit: string): number {
  const ms = Math.round(amount * unitMs);
  const isWhole = Number.isSafeInteger(ms) && Math.abs(ms - amount * unitMs) < rounding;
  if (typeof amount === "number" && isWhole) return ms + 0; // never -0
  throw new UsageError("invalid-duration", `${unit}(${String(amount)}) is not a whole number of milliseconds`);
}

/** A duration that was given as a number. @throws UsageError `invalid-duration` */
export function checkDuration(what: string, ms: unknown, least = 0): number {
  if (Number.isSafeInteger(ms) && (ms as number) >= least) return ms as number;
  throw new UsageError(
    "invalid-duration",
    `${what} is ${String(ms)}, but must be whole milliseconds, ${least} or more`,
    {
      wayOut: "Write it as seconds(10), minutes(5), hours(1) and so on.",
    },
  );
}

/** For people: 5,400,000 is "1 hour 30 minutes". */
export function formatDuration(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const unit of units) {
    const amount = Math.floor(rest / unit.ms);
    rest -= amount * unit.ms;
    if (amount > 0) parts.push(`${amount} ${unit.name}${amount === 1 ? "" : "s"}`);
  }
  return parts.length === 0 ? "0 seconds" : parts.join(" ");
}
