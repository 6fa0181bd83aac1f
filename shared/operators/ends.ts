import type { StageEnvironment, WriteRows, WriteTexts } from "./environment.ts";
import type { Keys } from "./keys.ts";
import type { Values } from "./values.ts";

/** Where a chain of operators ends. */
export interface ChainEnds {
  readonly write: WriteRows;
  readonly writeTexts?: WriteTexts | undefined;
  /** Values for a stateful node, with a key each. */
  keyed?(node: string, keys: Keys, values: Values): void;
  readonly running?: StageEnvironment["running"] | undefined;
}

/** An operator begins with a batch that is not empty. */
export function announce({ running }: ChainEnds, operator: string, { origin, rows }: Values): void {
  running?.(operator, origin.partition, origin.offset(rows[0]!));
}
