/** The public API of `epochflow/infra`. */
export type { PolicySettings } from "../functions/settings.ts";
export type { PipelineFunctions } from "./functions.ts";
export { StreamPipeline, type StreamPipelineProps } from "./stream-pipeline.ts";
