import type { OpenTransaction, TopicPartition } from "../client.ts";
import { isKafkaError } from "../errors.ts";
import type { Cluster } from "./cluster.ts";
import type { Deadline } from "./deadline.ts";
import { describeProducers, describeTransaction, listTransactions } from "./requests/open-transactions.ts";
import { askCoordinator, askLeaders } from "./routing.ts";

const lane = "control";

/** Whose transactions are open on these partitions, by first offset. Who may not see transactional ids gets the producers' numbers alone. */
export async function openTransactions(
  cluster: Cluster,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<OpenTransaction[]> {
  const what = "DescribeProducers";
  const active = await askLeaders(cluster, partitions, { what, lane, deadline, request: describeProducers });
  const found = partitions.flatMap(({ topic, partition }, index) =>
    active[index]!.map((producer) => ({ topic, partition, ...producer })),
  );
  const ids = await transactionalIds(cluster, [...new Set(found.map(({ producerId }) => producerId))], deadline);
  const times = new Map(
    await Promise.all([...ids.values()].map(async (id) => [id, await timesOf(cluster, id, deadline)] as const)),
  );
  const open = found.map((one) => {
    const transactionalId = ids.get(one.producerId) ?? null;
    return { ...one, transactionalId, ...(times.get(transactionalId ?? "") ?? { startedAt: null, timeoutMs: null }) };
  });
  return open.sort((one, other) => one.from - other.from);
}

async function transactionalIds(cluster: Cluster, producerIds: readonly bigint[], deadline: Deadline) {
  if (producerIds.length === 0) return new Map<bigint, string>();
  const { brokers } = await cluster.metadata([], deadline);
  const listed = await Promise.all(
    [...brokers.keys()].map(async (broker) => {
      const connection = await cluster.connection(broker, deadline, lane);
      const { code, value } = await connection.send(listTransactions(producerIds), deadline);
      return code === 0 ? [...value] : [];
    }),
  );
  return new Map(listed.flat());
}

async function timesOf(cluster: Cluster, id: string, deadline: Deadline) {
  const request = describeTransaction(id);
  try {
    return await askCoordinator(cluster, ["transaction", id], { what: request.name, lane, deadline, request });
  } catch (error) {
    if (isKafkaError(error)) return undefined;
    throw error;
  }
}
