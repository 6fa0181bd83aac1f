import { kafkaConnector } from "../../composition/kafka.ts";
import { isS3Path, parseS3Path } from "../../composition/s3-path.ts";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import type { RecordBatch } from "../../shared/ports/source.ts";
import type { Place } from "./places.ts";

/** The committed rows of a dead-letter sink as texts: of whole epochs from manifests, or a topic's records as `read_committed` readers see them, up to its end now. */
export async function* readLetters(from: Place): AsyncGenerator<string> {
  if (from.kind === "topic") yield* readTopic(from);
  else if (isS3Path(from.path)) yield* readBucket(from.path);
  else yield* readRows(from.path);
}

async function* readBucket(path: string): AsyncGenerator<string> {
  const { S3Client } = await import("@aws-sdk/client-s3");
  const { clientSettings, objectRequestTimeoutMs } = await import("../../shared/adapters/aws/client-settings.ts");
  const { readRows } = await import("../../shared/adapters/s3/reader.ts");
  const client = new S3Client(clientSettings({ requestTimeoutMs: objectRequestTimeoutMs }));
  try {
    yield* readRows({ client, ...parseS3Path(path) });
  } finally {
    client.destroy();
  }
}

async function* readTopic({ topic, connection }: Extract<Place, { kind: "topic" }>): AsyncGenerator<string> {
  const connector = kafkaConnector({ objects: new MemoryObjectStore(), bounded: true });
  try {
    const isolation = "read_committed";
    const source = connector.source({ connection, topics: [topic], startFrom: "earliest", isolation });
    for (const { id, identity, start, end } of await source.discover([]))
      for await (const batch of source.read({ id, identity, from: start, to: end })) yield* textsOf(batch);
  } finally {
    await connector.close();
  }
}

/** A null is nobody's letter. */
function* textsOf({ bytes, count, valueStart, valueEnd }: RecordBatch): Generator<string> {
  for (let row = 0; row < count; row++) {
    const start = valueStart[row]!;
    if (start >= 0) yield bytes.toString("utf8", start, valueEnd[row]);
  }
}
