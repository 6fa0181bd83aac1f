import { UsageError } from "../shared/errors.ts";

/** Why `trigger` was invoked. */
export type WakeUp =
  /** Something may have happened: records, a heartbeat, a deployment. */
  | { readonly kind: "wake" }
  /** The state machine asks for an execution: a successor, or an owner of the lease that was never started. */
  | { readonly kind: "start"; readonly name: string }
  /** Step Functions says that an execution is over. */
  | { readonly kind: "ended"; readonly name: string };

/** The events that this understands, as AWS documents them; of each, what is used. */
export type TriggerEvent =
  /** From the custom resource of a deployment, which sends nothing. */
  | Readonly<Record<string, never>>
  | { readonly start: string }
  /** From an event source mapping of Kafka. Its records are not used: the plan reads the topics itself. */
  | { readonly eventSource: "aws:kafka" | "SelfManagedKafka" }
  /** From the queue to which Lambda tells that it gave up a batch of such a mapping, which has woken nobody. */
  | { readonly KafkaBatchInfo: object; readonly requestContext: { readonly condition: string } }
  | { readonly source: "epochflow" }
  /** From a rule of EventBridge: an execution's status has changed. */
  | { readonly source: "aws.states"; readonly detail: { readonly name: string; readonly status: string } }
  /** From a queue, which holds the others. */
  | { readonly Records: readonly { readonly eventSource: "aws:sqs"; readonly body: string }[] };

/** @throws UsageError `unknown-event`: it ends among the dead letters, where people see it */
export function wakeUpsOf(event: TriggerEvent): WakeUp[] {
  if (Object.keys(event).length === 0) return [{ kind: "wake" }];
  if ("Records" in event) return event.Records.flatMap(({ body }) => wakeUpsOf(JSON.parse(body)));
  if ("start" in event) return [{ kind: "start", name: event.start }];
  if ("eventSource" in event && /kafka$/i.test(event.eventSource)) return [{ kind: "wake" }];
  if ("KafkaBatchInfo" in event) return [{ kind: "wake" }];
  if ("source" in event && event.source === "epochflow") return [{ kind: "wake" }];
  if ("source" in event && event.source === "aws.states" && event.detail.status !== "RUNNING")
    return [{ kind: "ended", name: event.detail.name }];
  throw new UsageError("unknown-event", `trigger does not know events with ${Object.keys(event).join(", ")}`, {
    wayOut: 'To wake the pipeline by hand, send { "source": "epochflow" }.',
  });
}
