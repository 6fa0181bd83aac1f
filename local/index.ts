/** Running pipelines on this machine: `epochflow/local`. */
export type { Message, Progress, RunOptions, RunResult } from "./options.ts";
export { run } from "./run.ts";
