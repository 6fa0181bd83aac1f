import { type ErrorPlace, InfrastructureError } from "../../errors.ts";

/** A call to Kafka failed. `broker` is the broker's own name for it ("INVALID_PRODUCER_EPOCH"), or what happened to the connection: "UNREACHABLE", "TLS_FAILED", "AUTHENTICATION_FAILED", "TIMED_OUT", "DISCONNECTED", "CLOSED" (by ourselves). */
export class KafkaError extends InfrastructureError {
  readonly broker: string;

  constructor(broker: string, message: string, details: { wayOut?: string; place?: ErrorPlace; cause?: unknown } = {}) {
    super(`kafka-${broker.toLowerCase().replaceAll("_", "-")}`, message, details);
    this.broker = broker;
  }
}

export const isKafkaError = (error: unknown, ...names: readonly string[]): error is KafkaError =>
  error instanceof KafkaError && names.includes(error.broker);
