/** How S3 bills a request: as a PUT (with COPY, POST and LIST), as a GET (with all others), or not at all (deletes, and uploads that are ended). */
export type RequestClass = "put" | "get" | "free";

/**
 * After "Understanding your AWS billing and usage reports for Amazon S3"
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/aws-usage-report-understand.html). Each request of a multipart upload is one of its own.
 *
 * @param url with the bucket in its path
 */
export function requestClass(method: string, url: string): RequestClass {
  const { pathname, searchParams } = new URL(url, "http://s3");
  if (method === "DELETE" || (method === "POST" && searchParams.has("delete"))) return "free";
  if (method === "PUT" || method === "POST") return "put";
  return method === "GET" && isList(pathname, searchParams) ? "put" : "get";
}

/** Of objects, of their versions, of uploads: asked of a bucket, and not of what it is configured to do. */
function isList(pathname: string, parameters: URLSearchParams): boolean {
  const [, , key = ""] = /^\/([^/]*)\/?(.*)$/.exec(pathname) ?? [];
  if (key !== "") return parameters.has("uploadId");
  return ["list-type", "versions", "uploads", "prefix"].some((name) => parameters.has(name));
}
