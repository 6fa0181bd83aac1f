import assert from "node:assert/strict";
import { test } from "node:test";
import { type TriggerEvent, wakeUpsOf } from "./wake-up.ts";

test("events of Kafka only wake, however many records they hold", () => {
  const records = { "lines-0": [{ topic: "lines", partition: 0, offset: 15, value: "SGVsbG8=" }] };
  for (const eventSource of ["aws:kafka", "SelfManagedKafka"] as const)
    assert.deepEqual(wakeUpsOf({ eventSource, records } as TriggerEvent), [{ kind: "wake" }]);
});

test("a batch that Lambda gave up wakes once, whatever was in it", () => {
  const body = JSON.stringify({
    requestContext: {
      requestId: "316aa6d0-8154-4c0a-9af7-85d5f4a6bc81",
      functionArn: "arn:aws:lambda:eu-west-1:111122223333:function:trigger",
      condition: "RetryAttemptsExhausted",
      approximateInvokeCount: 11,
    },
    responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    version: "1.0",
    timestamp: "2026-01-01T00:00:00.000Z",
    KafkaBatchInfo: {
      batchSize: 2,
      eventSourceArn: "arn:aws:kafka:eu-west-1:111122223333:cluster/main/0a1b2c-3",
      bootstrapServers: "b-1:9098",
      payloadSize: 1162,
      recordsInfo: { "lines-0": { firstRecordOffset: "15", lastRecordOffset: "16" } },
    },
  });
  assert.deepEqual(wakeUpsOf({ Records: [{ eventSource: "aws:sqs", body }] }), [{ kind: "wake" }]);
});

test("a deployment wakes, and says nothing", () => {
  assert.deepEqual(wakeUpsOf({}), [{ kind: "wake" }]);
});

test("the state machine names the execution to start", () => {
  assert.deepEqual(wakeUpsOf({ start: "words-u1-2" }), [{ kind: "start", name: "words-u1-2" }]);
});

test("an event that nobody knows is an error", () => {
  assert.throws(() => wakeUpsOf({ hello: 1 } as never), { code: "unknown-event", message: /hello/ });
  // A running execution is no proof of anything.
  const running = { source: "aws.states", detail: { name: "words-u1-1", status: "RUNNING" } } as const;
  assert.throws(() => wakeUpsOf(running), { code: "unknown-event" });
});
