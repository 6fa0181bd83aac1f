import { test } from "node:test";
import type { Ledger } from "../../ports/ledger.ts";

/** An empty ledger, on which `open` was not called. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** A second connection to the same data. */
  another(): Promise<Ledger>;
  /** Closes all connections and removes the data. */
  dispose(): Promise<void>;
}

export type MakeLedger = () => Promise<LedgerUnderTest>;

/** One test on a fresh ledger. */
export type Check = (title: string, body: (ledger: Ledger, another: () => Promise<Ledger>) => Promise<void>) => void;

export function checker(make: MakeLedger): Check {
  return (title, body) => {
    test(title, async () => {
      const { ledger, another, dispose } = await make();
      try {
        await body(ledger, another);
      } finally {
        await dispose();
      }
    });
  };
}
