import assert from "node:assert/strict";
import { test } from "node:test";
import { byService, requestsOf } from "./requests.ts";
import { usageOf } from "./usage.ts";

test("requests are counted by service and kind; what is no request is left out", () => {
  const driver = (what: string, times: number) => ({ what, times, usage: usageOf({}) });
  const requests = requestsOf(
    [
      driver("Kafka Fetch", 8),
      driver("S3 GET of the bucket (list-type)", 2),
      driver("S3 PUT snapshot", 4),
      driver("S3 PUT staged", 2),
      driver("DynamoDB GetItem of EPOCH", 6),
      driver("DynamoDB GetItem of HEAD", 2),
      driver("invocation of plan", 2),
      driver("duration of fused (1024 MB)", 1),
      driver("log of plan", 9),
      driver("collector: an epoch's rows are deleted", 2),
      driver("state Plan", 3),
      driver("a retry", 1),
    ],
    2,
  );
  assert.deepEqual(
    Object.entries(requests).sort(([one], [other]) => byService(one, other)),
    [
      ["Step Functions state transition", 2],
      ["Lambda plan", 1],
      ["DynamoDB GetItem", 4],
      ["S3 GET of a list", 1],
      ["S3 PUT", 3],
      ["Kafka Fetch", 4],
    ],
  );
});
