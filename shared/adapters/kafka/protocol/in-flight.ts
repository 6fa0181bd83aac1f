import type { EpochflowError } from "../../../errors.ts";

interface Entry {
  resolve(answer: Buffer): void;
  reject(error: unknown): void;
}

/** The requests of one connection that wait for their answers. Deadlines are the caller's. */
export class InFlight {
  readonly #entries = new Map<number, Entry>();
  #last = -1;
  #end: EpochflowError | undefined;

  /** @param send is given the request's correlation id */
  add(send: (correlationId: number) => void): Promise<Buffer> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    this.#last = (this.#last + 1) % 2 ** 31;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#entries.set(this.#last, { resolve, reject });
    send(this.#last);
    return promise;
  }

  /** An answer that nobody waits for is dropped. */
  answered(correlationId: number, answer: Buffer): void {
    const entry = this.#entries.get(correlationId);
    this.#entries.delete(correlationId);
    entry?.resolve(answer);
  }

  /** The connection is over: fails what waits, and all that is added later. Only the first call counts. */
  end(reason: EpochflowError): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    for (const entry of this.#entries.values()) entry.reject(reason);
    this.#entries.clear();
  }
}
