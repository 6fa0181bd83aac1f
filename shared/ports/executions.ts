/**
 * Runs of the state machine. Step Functions on AWS, the local interpreter on a laptop.
 * Only `trigger` (`epoch/wake.ts`) calls it (protocol §6).
 */
export interface Executions {
  /** Starts the machine under this name. A name is used once: `exists` says that it was used before, whatever became of it. */
  start(name: string): Promise<"started" | "exists">;
  /** May lag: an execution that is over may still show as running for a while, never the other way round. */
  describe(name: string): Promise<"running" | "over" | "missing">;
}
