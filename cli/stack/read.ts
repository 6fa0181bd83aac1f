import { S3Client } from "@aws-sdk/client-s3";
import type { DeployedPipeline } from "../../composition/deployed-pipeline.ts";
import { parseS3Path } from "../../composition/s3-path.ts";
import { objectRequestTimeoutMs } from "../../shared/adapters/aws/client-settings.ts";
import type { ReadOptions } from "../../shared/adapters/output/reading.ts";
import { readChunks } from "../../shared/adapters/s3/reader.ts";
import { UsageError } from "../../shared/errors.ts";
import { didYouMean } from "../../shared/options.ts";
import type { OfStack } from "../stack-options.ts";
import { settingsFor } from "./clients.ts";
import { findDeployed } from "./find.ts";

/**
 * The committed rows of a files sink of a deployed pipeline, whole lines.
 *
 * @throws UsageError those of `findDeployed` and `readChunks`; `no-files-sink`, `which-sink`
 */
export async function* chunksOfStack(
  options: OfStack & { readonly sink?: string },
  seen: ReadOptions = {},
): AsyncGenerator<Buffer> {
  const path = placeOf(await findDeployed(options), options.sink);
  const client = new S3Client(settingsFor(options, { requestTimeoutMs: objectRequestTimeoutMs }));
  try {
    yield* readChunks({ client, ...parseS3Path(path) }, seen);
  } finally {
    client.destroy();
  }
}

function placeOf({ pipeline, sinks }: DeployedPipeline, sink: string | undefined): string {
  const ids = Object.keys(sinks).sort();
  if (ids.length === 0)
    throw new UsageError("no-files-sink", `${pipeline} has no sink that writes files to S3`, {
      wayOut: "What it writes to a topic, a read_committed consumer reads.",
    });
  const path = sinks[sink ?? (ids.length === 1 ? ids[0]! : "")];
  if (path !== undefined) return path;
  const message =
    sink === undefined
      ? `${pipeline} has ${ids.length} sinks that write files to S3: which one?`
      : `${pipeline} has no sink "${sink}" that writes files to S3.${didYouMean(sink, ids)}`;
  throw new UsageError("which-sink", message, { wayOut: `Add one of: ${ids.map((id) => `--sink ${id}`).join(", ")}` });
}
