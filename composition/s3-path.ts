import { UsageError } from "../shared/errors.ts";

export interface S3Path {
  readonly bucket: string;
  /** What keys begin with; empty for the whole bucket. */
  readonly prefix: string;
}

const scheme = "s3://";

export function isS3Path(path: unknown): path is string {
  return typeof path === "string" && path.startsWith(scheme);
}

/**
 * `s3://bucket/prefix` in its parts.
 *
 * @throws UsageError `invalid-path` without a bucket
 */
export function parseS3Path(path: string): S3Path {
  const rest = path.slice(scheme.length);
  const [bucket = ""] = rest.split("/", 1);
  if (isS3Path(path) && bucket !== "") return { bucket, prefix: rest.slice(bucket.length + 1) };
  throw new UsageError("invalid-path", `"${path}" names no bucket`, { wayOut: "Write s3://bucket/prefix." });
}
