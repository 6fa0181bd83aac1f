import { usagePrices } from "./prices.ts";

export type UsageKind = keyof typeof usagePrices;

/** What AWS bills by use, of some stretch of time. */
export type Usage = Readonly<Record<UsageKind, number>>;

export const usageKinds = Object.keys(usagePrices) as UsageKind[];

/** @param numberOf what is absent is none */
export function usageOf(numberOf: Partial<Usage>): Usage {
  return Object.fromEntries(usageKinds.map((kind) => [kind, numberOf[kind] ?? 0])) as Record<UsageKind, number>;
}

export function sum(usages: readonly Partial<Usage>[]): Usage {
  return Object.fromEntries(
    usageKinds.map((kind) => [kind, usages.reduce((total, one) => total + (one[kind] ?? 0), 0)]),
  ) as Record<UsageKind, number>;
}

export function scale(usage: Usage, factor: number): Usage {
  return Object.fromEntries(usageKinds.map((kind) => [kind, usage[kind] * factor])) as Record<UsageKind, number>;
}
