import { brokerError, isMoved } from "../broker-errors.ts";
import type { TopicPartition } from "../client.ts";
import { isKafkaError, KafkaError } from "../errors.ts";
import { retrying } from "../retrying.ts";
import { formatAddress } from "./address.ts";
import type { Answer, ApiRequest } from "./api-request.ts";
import type { BrokerConnection } from "./broker-connection.ts";
import type { Cluster } from "./cluster.ts";
import type { Deadline } from "./deadline.ts";
import type { CoordinatorKind } from "./requests/transactions.ts";

export interface LeaderCall<P extends TopicPartition, T> {
  /** For messages: "Fetch at offset 5". */
  readonly what: string;
  readonly lane: string;
  readonly deadline: Deadline;
  /** Answers come in the order of the items. */
  request(items: readonly P[]): ApiRequest<readonly Answer<T>[]>;
}

/**
 * Asks each leader for its partitions, all leaders at once; where a leader has moved, the new one, once. Results are in the order of the items.
 *
 * @throws KafkaError of the first item that has an error
 */
export async function askLeaders<P extends TopicPartition, T>(
  cluster: Cluster,
  items: readonly P[],
  call: LeaderCall<P, T>,
): Promise<T[]> {
  const results = await askLeadersOnce(cluster, items, call);
  const moved = items.filter((item) => isMoved(results.get(item)));
  if (moved.length > 0) {
    cluster.forgetLeaders(moved);
    for (const [item, result] of await askLeadersOnce(cluster, moved, call)) results.set(item, result);
  }
  return items.map((item) => {
    const result = results.get(item);
    if (result instanceof KafkaError) throw result;
    return result as T;
  });
}

async function askLeadersOnce<P extends TopicPartition, T>(
  cluster: Cluster,
  items: readonly P[],
  { what, lane, deadline, request }: LeaderCall<P, T>,
): Promise<Map<P, T | KafkaError>> {
  const results = new Map<P, T | KafkaError>();
  const asked = [...(await cluster.byLeader(items, deadline))].map(async ([node, led]) => {
    try {
      const connection = await cluster.connection(node, deadline, lane);
      const answers = await connection.send(request(led), deadline);
      for (const [index, item] of led.entries()) {
        results.set(item, resultOf(answers[index]!, `${what} of ${item.topic}/${item.partition}`, connection));
      }
    } catch (error) {
      // The leader may well be another one by now.
      if (isKafkaError(error, ...unreachable)) cluster.forgetLeaders(led);
      throw error;
    }
  });
  await Promise.all(asked);
  return results;
}

function resultOf<T>({ code, value, message }: Answer<T>, what: string, connection: BrokerConnection): T | KafkaError {
  return code === 0 ? value : brokerError(code, `${what} at ${formatAddress(connection.address)}`, message);
}

export interface CoordinatorCall<T> {
  readonly what: string;
  readonly lane: string;
  readonly deadline: Deadline;
  readonly request: ApiRequest<Answer<T>>;
}

/** Asks the coordinator of a group or a transactional id; again, while another broker takes its place: such an answer says that nothing was done. */
export function askCoordinator<T>(
  cluster: Cluster,
  [kind, key]: readonly [CoordinatorKind, string],
  { what, lane, deadline, request }: CoordinatorCall<T>,
): Promise<T> {
  const ask = async () => {
    try {
      const node = await cluster.coordinator(kind, key, deadline);
      const connection = await cluster.connection(node, deadline, lane);
      const result = resultOf(await connection.send(request, deadline), what, connection);
      if (result instanceof KafkaError) throw result;
      return result;
    } catch (error) {
      if (isKafkaError(error, ...elsewhere, ...unreachable)) cluster.forgetCoordinator(kind, key);
      throw error;
    }
  };
  return retrying(ask, {
    timeoutMs: deadline.leftMs,
    signal: deadline.signal,
    longestPauseMs: longestCoordinatorPauseMs,
    retryable: (error) => isKafkaError(error, ...elsewhere),
  });
}

const elsewhere = ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"];
const unreachable = ["UNREACHABLE", "DISCONNECTED", "TIMED_OUT", "BROKER_NOT_AVAILABLE"];
const longestCoordinatorPauseMs = 200;
