/**
 * For tests of pipelines, and of sinks, sources, ledgers and object stores of your own.
 *
 * @module epochflow/testing
 */
export type { LedgerUnderTest, MakeLedger } from "./ledger/harness.ts";
export { ledgerConformance } from "./ledger-conformance.ts";
export {
  type MakeObjectStore,
  type ObjectStoreUnderTest,
  objectStoreConformance,
} from "./object-store-conformance.ts";
export type { PipelineTest, PipelineTestOptions, TestCounts } from "./pipeline/pipeline-test.ts";
export { testPipeline } from "./pipeline/pipeline-test.ts";
export type { EncodedRecord } from "./pipeline/test-sink.ts";
export type { RecordOptions } from "./pipeline/test-source.ts";
export { type SinkUnderTest, sinkConformance } from "./sink-conformance.ts";
export { type SourceUnderTest, sourceConformance } from "./source-conformance.ts";
