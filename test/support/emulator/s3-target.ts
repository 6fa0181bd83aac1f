import { readRows } from "../../../shared/adapters/s3/reader.ts";
import { createS3FilesSink } from "../../../shared/adapters/s3/sink.ts";
import { collect } from "../../../shared/testing/collect.ts";
import type { SinkUnderTest } from "../../../shared/testing/sink-scenario.ts";
import type { Clients } from "./services.ts";

type Row = { n: number; text: string };

/** An output in a bucket. */
export interface S3Target extends SinkUnderTest<Row> {
  readonly options: { readonly client: Clients["s3"]; readonly bucket: string; readonly prefix: string };
}

/** @param options the bucket is there, and the prefix empty */
export function s3Target(options: S3Target["options"]): S3Target {
  return {
    options,
    open: () => createS3FilesSink(options, 500),
    read: async () => (await collect(readRows(options))).map((row) => JSON.parse(row)),
    row: (n) => ({ n, text: "line\n\u2028ü" }),
    badRow: { toJSON: () => undefined } as unknown as Row,
    exclusive: true,
    close: async () => {},
  };
}
