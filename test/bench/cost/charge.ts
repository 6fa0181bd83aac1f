import { sum, type Usage } from "./usage.ts";

/** Something that AWS bills. */
export interface Charge {
  /** Epoch milliseconds. */
  readonly at: number;
  /** For people: what it was for. Charges of one kind have the same text. */
  readonly what: string;
  readonly usage: Partial<Usage>;
}

/** A stretch of time, by epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const isWithin = ({ from, to }: Span, at: number): boolean => at > from && at <= to;

export interface Driver {
  readonly what: string;
  readonly times: number;
  readonly usage: Usage;
}

/** What was billed within a time, by what it was for. */
export function driversOf(charges: readonly Charge[], span: Span): Driver[] {
  const groups = Map.groupBy(
    charges.filter(({ at }) => isWithin(span, at)),
    ({ what }) => what,
  );
  return [...groups].map(([what, its]) => ({ what, times: its.length, usage: sum(its.map(({ usage }) => usage)) }));
}
