/** Time, as a port: the protocol never looks at the system's clock itself, so that a simulator can own it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Resolves after that many milliseconds. */
  sleep(ms: number): Promise<void>;
}
