import { type ErrorPlace, InfrastructureError, LossError, UsageError, UserCodeError } from "../../../errors.ts";
import type { SinkContext } from "../../../ports/sink.ts";
import { isKafkaError, KafkaError } from "../errors.ts";

/** The part of a sink's output that an error is about. */
export interface OutputPlace {
  readonly pipeline: string;
  readonly sink: string;
  readonly epoch: number;
}

const placeOf = ({ pipeline, sink, epoch }: OutputPlace): ErrorPlace => ({ pipeline, sink, epoch });

const giveUp = ({ sink, epoch }: OutputPlace): string =>
  `give up the epoch's rows with \`epochflow abandon --sink ${sink} --epoch ${epoch}\``;

/** A row that cannot become a record. `reason` continues "sink s: ". */
export function refusedRow(
  code: string,
  { pipeline, sink, epoch, attempt }: SinkContext,
  reason: string,
  details: { wayOut?: string; cause?: unknown } = {},
): UserCodeError {
  return new UserCodeError(code, `sink ${sink}: ${reason}`, { ...details, place: { pipeline, sink, epoch, attempt } });
}

export function topicMissing(sink: string, topic: string): InfrastructureError {
  return new InfrastructureError("kafka-topic-missing", `sink ${sink}: the topic ${topic} does not exist`, {
    wayOut: `Create it: \`kafka-topics.sh --bootstrap-server … --create --topic ${topic} --partitions …\`, or grant DESCRIBE on it.`,
    place: { sink, partition: topic },
  });
}

/** What nothing but other brokers, or other settings of theirs, can mend. */
export function unfitBrokers(code: string, sink: string, message: string, wayOut: string): UsageError {
  return new UsageError(code, `sink ${sink}: ${message}`, { wayOut, place: { sink } });
}

export function invalidHandle(place: OutputPlace, what: string): LossError {
  const { sink, epoch, pipeline } = place;
  return new LossError(
    "handle-invalid",
    `the ledger holds a handle of sink ${sink} of epoch ${epoch} in pipeline ${pipeline} that the sink did not make: ${what}`,
    {
      wayOut: "The ledger is damaged: restore it from a backup, or start anew with `epochflow reset`.",
      place: placeOf(place),
    },
  );
}

export function otherTopic(place: OutputPlace, topic: string, current: string): LossError {
  const message = `sink ${place.sink} writes to ${current}, but its rows of epoch ${place.epoch} are for ${topic}`;
  const wayOut = `Name ${topic} again until they are committed, and run \`epochflow resume\`; or ${giveUp(place)}.`;
  return new LossError("kafka-other-topic", message, { wayOut, place: { ...placeOf(place), partition: topic } });
}

export function stagedLost(code: "staged-missing" | "staged-damaged", place: OutputPlace, object: string): LossError {
  const what = code === "staged-missing" ? "is missing" : "is not what was staged";
  return new LossError(
    code,
    `the rows of sink ${place.sink} in epoch ${place.epoch} are lost: the object ${object} ${what}`,
    {
      wayOut: `Restore it, and run \`epochflow resume\`; or ${giveUp(place)}.`,
      place: placeOf(place),
    },
  );
}

/** The lane's marker is of a later epoch. */
export function ledgerOlder(place: OutputPlace, group: string, marker: number): LossError {
  const message = `the ledger is older than Kafka: sink ${place.sink} has epoch ${place.epoch} to commit, but group ${group} says that epoch ${marker} is there`;
  return new LossError("kafka-ledger-older", message, {
    wayOut: `Restore the newer ledger; or ${giveUp(place)}, and those after it up to epoch ${marker}: what Kafka has got of them stays.`,
    place: placeOf(place),
  });
}

/** The marker is not what any history could have left: whether the epoch is in Kafka cannot be known. */
export function unknownMarker(
  place: OutputPlace,
  group: string,
  topic: string,
  found: string,
  expected: string,
): LossError {
  const message = `whether epoch ${place.epoch} of sink ${place.sink} is in Kafka cannot be known: the offset of group ${group} on ${topic} is ${found}, not ${expected}`;
  return new LossError("kafka-unknown-marker", message, {
    wayOut: `Was the topic made anew, another one named, or the group deleted? Look whether the topic has the epoch's rows. Then ${giveUp(place)}: the sink goes on with the next epoch.`,
    place: { ...placeOf(place), partition: `${topic}/0` },
  });
}

/** Errors that another try a moment later would meet again, but which somebody can mend: then the pipeline goes on by itself. */
const mendable = [
  "UNKNOWN_TOPIC_OR_PARTITION",
  "INVALID_TOPIC_EXCEPTION",
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "INVALID_RECORD",
  "INVALID_TIMESTAMP",
  "INVALID_TRANSACTION_TIMEOUT",
  "POLICY_VIOLATION",
  "TOPIC_AUTHORIZATION_FAILED",
  "GROUP_AUTHORIZATION_FAILED",
  "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
  "CLUSTER_AUTHORIZATION_FAILED",
  "SASL_AUTHENTICATION_FAILED",
  "AUTHENTICATION_FAILED",
  "TLS_FAILED",
  "UNSUPPORTED_VERSION",
];

/** Whether to begin again at once: what is neither a loss nor a matter for people. */
export const isWorthAnotherTry = (error: unknown): boolean =>
  error instanceof InfrastructureError && !isKafkaError(error, ...mendable);

const waysOut: Readonly<Record<string, string>> = {
  UNKNOWN_TOPIC_OR_PARTITION: "Create the topic with as many partitions as it had; then this goes on by itself.",
  MESSAGE_TOO_LARGE: "Raise `max.message.bytes` of the topic to what it was; then this goes on by itself.",
  UNSTABLE_OFFSET_COMMIT:
    "It passes when the transaction of the group is over. If that takes longer than a minute, a broker has lost its end: `kafka-transactions.sh find-hanging` finds it, `abort` ends it; then this goes on by itself.",
  INVALID_TIMESTAMP:
    "Raise `message.timestamp.after.max.ms` or `message.timestamp.before.max.ms` of the topic; then this goes on by itself.",
};

/** Why a commit ends for now, with its output named. Losses and what is not ours stay as they are. */
export const commitFailed = (error: unknown, place: OutputPlace): unknown =>
  failed(error, place, "is not committed yet");

/** Why rows could not be written at once. */
export const publishFailed = (error: unknown, place: OutputPlace): unknown =>
  failed(error, place, "is not written as a whole");

function failed(error: unknown, place: OutputPlace, what: string): unknown {
  if (!(error instanceof InfrastructureError)) return error;
  const name = error instanceof KafkaError ? error.broker : "";
  const wayOut = waysOut[name] ?? error.wayOut;
  return new InfrastructureError(error.code, `sink ${place.sink}: epoch ${place.epoch} ${what}: ${error.message}`, {
    ...(wayOut !== undefined && { wayOut }),
    place: { ...error.place, ...placeOf(place) },
    cause: error,
  });
}
