/**
 * The public API, all of it: what a pipeline is written with. Functions that need a service are in `epochflow/local` and `epochflow/infra`.
 *
 * @module epochflow
 */
export type { ErrorDescription, ErrorKind, ErrorPlace } from "./errors.ts";
export { EpochflowError, InfrastructureError, LossError, UsageError, UserCodeError } from "./errors.ts";
export type { Json } from "./json.ts";
export type { Aggregate, NumberOf } from "./operators/aggregates.ts";
export { aggregate, average, collect, count, max, min, reduce, sum } from "./operators/aggregates.ts";
export { checkOptions } from "./options.ts";
export type {
  BoundOptions,
  CustomSinkOptions,
  CustomSourceOptions,
  SourceSurroundings,
} from "./pipeline/connectors/custom.ts";
export { customSink, customSource } from "./pipeline/connectors/custom.ts";
export type { FileCompression, FileFormat } from "./pipeline/connectors/file-format.ts";
export type { CompactOptions, FilesSinkOptions, FilesSourceOptions } from "./pipeline/connectors/files.ts";
export { files } from "./pipeline/connectors/files.ts";
export type {
  KafkaCompression,
  KafkaHeaders,
  KafkaSinkOptions,
  KafkaSourceOptions,
  KafkaStart,
  OfRow,
} from "./pipeline/connectors/kafka.ts";
export { kafka } from "./pipeline/connectors/kafka.ts";
export type { KafkaConnectionOptions, KafkaConnectionSettings } from "./pipeline/connectors/kafka-connection.ts";
export type { CombinedLogEntry } from "./pipeline/decoders/combined-log.ts";
export { combinedLog } from "./pipeline/decoders/combined-log.ts";
export type { DecoderLike } from "./pipeline/decoders/decoder.ts";
export { json } from "./pipeline/decoders/json.ts";
export { nullable } from "./pipeline/decoders/nullable.ts";
export { pattern } from "./pipeline/decoders/pattern.ts";
export { text } from "./pipeline/decoders/text.ts";
export { days, hours, milliseconds, minutes, seconds } from "./pipeline/durations.ts";
export type { CsvOptions } from "./pipeline/encoders/csv.ts";
export { csv } from "./pipeline/encoders/csv.ts";
export type { Definition, OperatorOptions } from "./pipeline/graph.ts";
export type { OrParameter, Parameter } from "./pipeline/parameter.ts";
export { parameter } from "./pipeline/parameter.ts";
export type { DeadLetter, Pipeline, PipelineOptions } from "./pipeline/pipeline.ts";
export { deadLetter, pipeline } from "./pipeline/pipeline.ts";
export type { At, KeyAt, KeysAt, Pointer, PointerTo, Selected } from "./pipeline/pointer-types.ts";
export type { Secret } from "./pipeline/secret.ts";
export { environment, secret } from "./pipeline/secret.ts";
export type { SourceOptions } from "./pipeline/source-options.ts";
export type {
  AggregateOptions,
  AggregateRow,
  KeyedStream,
  Stream,
  WindowedStream,
  WindowOptions,
  WindowRow,
} from "./pipeline/stream.ts";
export type {
  DeadLetterBytes,
  DeadLetterRecord,
  DeadLetterRow,
  Decoder,
  Encoder,
  FileStyle,
  Key,
  KeyPart,
  LateRow,
  RecordMetadata,
  SinkDescription,
  SourceDescription,
  WindowAssigner,
} from "./pipeline/topology.ts";
export type { WindowOffset } from "./pipeline/windows.ts";
export { sliding, tumbling } from "./pipeline/windows.ts";
export type { ColumnRows, RowColumn, RowField, TextColumn, TextRows } from "./ports/columns.ts";
export type { SourceRecord } from "./ports/record-batch.ts";
export { recordBatch } from "./ports/record-batch.ts";
export type {
  CommitContext,
  CommitLedger,
  CommitUnit,
  Garbage,
  PreparedTask,
  RefusedRow,
  RowBatch,
  SinkContext,
  TimeOfRow,
  Transaction,
  TwoPhaseCommitSink,
  UnitDecision,
} from "./ports/sink.ts";
export type { CutLimit, KnownPartition, PartitionStatus, RecordBatch, Source, SourceRange } from "./ports/source.ts";
