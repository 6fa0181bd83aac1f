import assert from "node:assert/strict";
import { test } from "node:test";
import { isS3Path, parseS3Path } from "./s3-path.ts";

test("an address is a bucket and what keys begin with", () => {
  assert.deepEqual(parseS3Path("s3://bucket/a/b/"), { bucket: "bucket", prefix: "a/b/" });
  assert.deepEqual(parseS3Path("s3://bucket"), { bucket: "bucket", prefix: "" });
  for (const path of ["s3://", "s3:///key"]) assert.throws(() => parseS3Path(path), { code: "invalid-path" });
});

test("a path of a disk is none", () => {
  assert.deepEqual(["out/s3://x", "s3", undefined].map(isS3Path), [false, false, false]);
});
