import { ledgerConformance } from "../../testing/ledger-conformance.ts";
import { type LedgerItems, MemoryLedger } from "./ledger.ts";

ledgerConformance("memory", async () => {
  const items: LedgerItems = new Map();
  return { ledger: new MemoryLedger(items), another: async () => new MemoryLedger(items), dispose: async () => {} };
});
