export type { LedgerUnderTest, MakeLedger } from "./ledger/harness.ts";
export { ledgerConformance } from "./ledger-conformance.ts";
export { type MakeObjectStore, objectStoreConformance } from "./object-store-conformance.ts";
