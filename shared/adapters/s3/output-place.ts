import type { S3Client } from "@aws-sdk/client-s3";
import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { Bucket } from "./bucket.ts";

export interface S3PlaceOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What the keys of the output begin with, up to and without a last `/`; it belongs to one sink alone. */
  readonly prefix: string;
}

export const ownerMarkName = ".epochflow/owner.json";

/** Where a files sink keeps things in a bucket. */
export class OutputPlace {
  readonly bucket: Bucket;
  /** Ends in `/`, or is empty. */
  readonly prefix: string;
  readonly ownerMark: string;

  /** @throws UsageError for a wrong option */
  constructor(what: string, options: S3PlaceOptions) {
    checkOptions(what, options, ["client", "bucket", "prefix"]);
    for (const name of ["bucket", "prefix"] as const) {
      if (typeof options[name] === "string" && (name === "prefix" || options[name] !== "")) continue;
      throw new UsageError("invalid-options", `${what} needs a ${name}`, { wayOut: `Give the ${name} as a text.` });
    }
    const prefix = options.prefix.replace(/\/+$/, "");
    this.bucket = new Bucket(options.client, options.bucket);
    this.prefix = prefix === "" ? "" : `${prefix}/`;
    this.ownerMark = this.prefix + ownerMarkName;
  }

  get url(): string {
    return this.bucket.urlOf(this.prefix);
  }

  keyOf(file: string): string {
    return this.prefix + file;
  }

  /** Undefined: there is no such object. */
  async textOf(key: string): Promise<string | undefined> {
    const bytes = await this.bucket.get(key);
    return typeof bytes === "string" ? undefined : Buffer.from(bytes).toString("utf8");
  }
}
