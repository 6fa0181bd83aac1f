import { S3Client } from "@aws-sdk/client-s3";
import { clientSettings, objectRequestTimeoutMs } from "../shared/adapters/aws/client-settings.ts";
import { createS3FilesSink } from "../shared/adapters/s3/sink.ts";
import { createS3Source } from "../shared/adapters/s3/source.ts";
import type { Connector, Options } from "./connector.ts";
import { parseS3Path } from "./s3-path.ts";

/** Files of a bucket; region and credentials are those that the SDK finds. */
export function s3FilesConnector(): Connector {
  const client = new S3Client(clientSettings({ requestTimeoutMs: objectRequestTimeoutMs }));
  return {
    source({ path, ...others }: Options) {
      return createS3Source({ client, ...parseS3Path(String(path)), ...others });
    },
    sink({ path, ...output }: Options) {
      return createS3FilesSink({ client, ...parseS3Path(String(path)), ...output });
    },
    close: async () => client.destroy(),
  };
}
