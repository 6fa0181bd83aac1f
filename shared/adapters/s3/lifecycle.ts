import { GetBucketLifecycleConfigurationCommand, type LifecycleRule } from "@aws-sdk/client-s3";
import { UsageError } from "../../errors.ts";
import { nameOf } from "../aws/errors.ts";
import type { OutputPlace } from "./output-place.ts";

/**
 * No rule of the bucket may end our uploads, which are rows that wait for their commit, however long, or expire what was published (I5, I8).
 *
 * @throws UsageError `bucket-lifecycle`
 */
export async function checkLifecycle({ bucket, prefix, url }: OutputPlace): Promise<void> {
  const rule = (await rulesOf(bucket)).find((one) => one.Status === "Enabled" && loses(one) && covers(one, prefix));
  if (rule === undefined) return;
  const what = rule.Expiration ? "expires objects" : "ends incomplete uploads";
  throw new UsageError(
    "bucket-lifecycle",
    `the lifecycle rule ${rule.ID ?? ""} of bucket ${bucket.name} ${what} below ${url}`,
    {
      wayOut:
        "Limit the rule to another prefix, or choose another bucket: rows could be lost before they are committed.",
    },
  );
}

async function rulesOf(bucket: OutputPlace["bucket"]): Promise<LifecycleRule[]> {
  try {
    const command = new GetBucketLifecycleConfigurationCommand({ Bucket: bucket.name });
    return (await bucket.client.send(command)).Rules ?? [];
  } catch (error) {
    if (nameOf(error) === "NoSuchLifecycleConfiguration") return [];
    throw bucket.error(error, "read the lifecycle rules of", "");
  }
}

function loses({ Expiration, AbortIncompleteMultipartUpload }: LifecycleRule): boolean {
  const expires = Expiration?.Days !== undefined || Expiration?.Date !== undefined;
  return expires || AbortIncompleteMultipartUpload !== undefined;
}

/** Our objects have no tags, so a rule for tags does not mean them. */
function covers(rule: LifecycleRule, prefix: string): boolean {
  const { Filter } = rule;
  if (Filter?.Tag || Filter?.And?.Tags?.length) return false;
  const meant = Filter?.Prefix ?? Filter?.And?.Prefix ?? rule.Prefix ?? "";
  return meant.startsWith(prefix) || prefix.startsWith(meant);
}
