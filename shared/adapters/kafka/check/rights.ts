import { type Finding, failure } from "../../../finding.ts";
import type { KafkaClient, ProducerIdentity } from "../client.ts";
import { isKafkaError } from "../errors.ts";

/**
 * Whether a sink's user may do what its commits need, by requests that a broker authorizes first, and then refuses, since it knows no such producer: nothing is left behind, no
 * producer id, no offset, no marker.
 *
 * @param id transactional id and group, under the prefix that rights are given by
 */
export async function checkSinkRights(client: KafkaClient, id: string, topics: readonly string[]): Promise<Finding[]> {
  const nobody: ProducerIdentity = { transactionalId: id, producerId: 0n, producerEpoch: 0 };
  const partitions = topics.map((topic) => ({ topic, partition: 0 }));
  const probes = [
    // WRITE on the transactional id.
    () => client.endTransaction(nobody, "abort"),
    // READ on the group. The commit of the offset itself is never sent, since what comes before it is refused.
    () => client.addGroupOffset(nobody, id, topics[0]!, { offset: 0, metadata: "" }),
    () => client.groupOffset(id, topics[0]!),
    // WRITE on the topics.
    ...partitions.map((one) => () => client.addPartitions(nobody, [one])),
  ];
  const findings: Finding[] = [];
  for (const probe of probes) {
    const error = await probe().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error !== undefined && !isKafkaError(error, ...unknownProducer)) findings.push(failure(error));
  }
  return distinct(findings);
}

/** How a coordinator says that it knows no such producer, once the right is there. */
const unknownProducer = [
  "INVALID_PRODUCER_ID_MAPPING",
  "INVALID_PRODUCER_EPOCH",
  "INVALID_TXN_STATE",
  "PRODUCER_FENCED",
];

/** One right that lacks fails several requests. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((one) => [one.error.code, one])).values()];
}
