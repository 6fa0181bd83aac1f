/**
 * The construct that deploys a pipeline with the AWS CDK.
 *
 * @module epochflow/infra
 */
export type { PolicySettings } from "../functions/settings.ts";
export type { PipelineAlarms } from "./alarms.ts";
export type { PipelineFunctions } from "./functions.ts";
export type { KafkaCluster, Placement } from "./kafka/cluster.ts";
export { Kafka } from "./kafka/kafka.ts";
export type { MskOptions } from "./kafka/msk.ts";
export type { MskCluster } from "./kafka/msk-cluster.ts";
export type { SelfManagedOptions } from "./kafka/self-managed.ts";
export { MeasuredPipeline, type MetricName } from "./metrics.ts";
export type { StreamPipelineProps } from "./props.ts";
export { StreamPipeline } from "./stream-pipeline.ts";
