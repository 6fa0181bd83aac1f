import { readFile } from "node:fs/promises";
import { isS3Path } from "../../composition/s3-path.ts";
import { unlessMissing } from "../../shared/adapters/filesystem/durable.ts";
import { outputLayout } from "../../shared/adapters/filesystem/output-layout.ts";
import { resolveConnection } from "../../shared/adapters/kafka/connection/connection.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { retrying } from "../../shared/adapters/kafka/retrying.ts";
import { UsageError } from "../../shared/errors.ts";
import type { Place } from "./places.ts";

/**
 * What a place is known again by, however it is reached: a topic by its own id, which no other cluster has, nor a topic that is made anew; the output of a sink by the mark
 * of its owner, wherever the folder lies.
 *
 * @throws UsageError `no-topic`
 */
export async function identityOf(place: Place): Promise<string> {
  if (place.kind === "topic") return await topicId(place);
  if (isS3Path(place.path)) return place.path;
  const owner = await unlessMissing(readFile(outputLayout(place.path).ownerMark, "utf8"));
  return owner ?? place.path;
}

async function topicId({ topic, connection }: Extract<Place, { kind: "topic" }>): Promise<string> {
  const client = createKafkaClient(resolveConnection(connection));
  try {
    const [found] = await retrying(() => client.topics([topic]), { timeoutMs: 10_000 });
    if (found !== undefined) return found.id;
    throw new UsageError("no-topic", `There is no topic ${topic}`, {
      wayOut: "Correct its name, create it, or grant DESCRIBE on it.",
    });
  } finally {
    await client.close();
  }
}
