import type { EpochflowError } from "../../../errors.ts";

/** What kafkajs's connection hands over with each request. */
interface Entry {
  readonly correlationId: number;
  resolve(response: { entry: Entry; correlationId: number; size: number; payload: Buffer }): void;
  reject(error: unknown): void;
}

/**
 * The requests of one connection that wait for their answers. Stands in the place of kafkajs's own queue, which arms a timer of a millisecond again and
 * again once a first answer has come, forgets to time out what it holds back, and waits for lost answers before it disconnects. Deadlines
 * are the caller's.
 */
export class InFlight {
  readonly #entries = new Map<number, Entry>();
  #end: EpochflowError | undefined;

  push({ entry, sendRequest }: { entry: Entry; sendRequest: () => void }): void {
    if (this.#end !== undefined) throw this.#end;
    this.#entries.set(entry.correlationId, entry);
    sendRequest();
  }

  fulfillRequest({ correlationId, size, payload }: { correlationId: number; size: number; payload: Buffer }): void {
    const entry = this.#entries.get(correlationId);
    this.#entries.delete(correlationId);
    entry?.resolve({ entry, correlationId, size, payload });
  }

  /** The connection is over: fails what waits, and all that is pushed later. Only the first call counts. */
  end(reason: EpochflowError): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    for (const entry of this.#entries.values()) entry.reject(reason);
    this.#entries.clear();
  }

  // What kafkajs calls besides. The socket's own events end a connection; each answer's throttle time is honoured where answers are read.
  rejectAll(): void {}
  maybeThrottle(): void {}
  async waitForPendingRequests(): Promise<void> {}
  scheduleRequestTimeoutCheck(): void {}
  destroy(): void {}
}
