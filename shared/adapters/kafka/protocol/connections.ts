import type { KafkaConnection } from "../connection/connection.ts";
import { KafkaError } from "../errors.ts";
import { type Address, formatAddress } from "./address.ts";
import { AnswerMemory } from "./answer-memory.ts";
import { BrokerConnection } from "./broker-connection.ts";
import { Deadline } from "./deadline.ts";

interface Opening {
  readonly promise: Promise<BrokerConnection>;
  /** Once it is there. */
  connection?: BrokerConnection;
}

/** Connections by broker and lane: what must keep its order, or would hold up others, has a lane of its own. Made when needed, and anew when they have broken. */
export class Connections {
  /** Of all answers. */
  readonly memory = new AnswerMemory();
  readonly #to: KafkaConnection;
  readonly #connectTimeoutMs: number;
  readonly #openings = new Map<string, Opening>();
  readonly #closing = new AbortController();

  constructor(to: KafkaConnection, connectTimeoutMs: number) {
    this.#to = to;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Aborted when all is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async get(address: Address, lane: string, deadline: Deadline): Promise<BrokerConnection> {
    this.closing.throwIfAborted();
    const key = `${formatAddress(address)} ${lane}`;
    const known = this.#openings.get(key);
    const opening = known !== undefined && known.connection?.isOpen !== false ? known : this.#open(key, address);
    return opening.connection ?? deadline.race(opening.promise, () => slow(address, deadline));
  }

  isOpen(address: Address, lane: string): boolean {
    return this.#openings.get(`${formatAddress(address)} ${lane}`)?.connection?.isOpen === true;
  }

  close(): void {
    const reason = new KafkaError("CLOSED", "The client of the Kafka cluster is closed");
    this.#closing.abort(reason);
    for (const { connection } of this.#openings.values()) connection?.close(reason);
    this.#openings.clear();
  }

  /** Shared by all who ask meanwhile, and so not ended by the deadline of one. */
  #open(key: string, address: Address): Opening {
    const deadline = new Deadline(this.#connectTimeoutMs, this.#closing.signal);
    const opening: Opening = { promise: BrokerConnection.open(address, this.#to, this.memory, deadline) };
    this.#openings.set(key, opening);
    opening.promise.then(
      (connection) => {
        opening.connection = connection;
      },
      () => {
        if (this.#openings.get(key) === opening) this.#openings.delete(key);
      },
    );
    return opening;
  }
}

function slow(address: Address, { timeoutMs }: Deadline): KafkaError {
  const message = `Kafka broker ${formatAddress(address)} cannot be reached within ${Math.round(timeoutMs)} ms`;
  return new KafkaError("TIMED_OUT", message);
}
