import assert from "node:assert/strict";
import { test } from "node:test";
import { type TriggerEvent, wakeUpsOf } from "./wake-up.ts";

test("events of Kafka only wake, however many records they hold", () => {
  const records = { "lines-0": [{ topic: "lines", partition: 0, offset: 15, value: "SGVsbG8=" }] };
  for (const eventSource of ["aws:kafka", "SelfManagedKafka"] as const)
    assert.deepEqual(wakeUpsOf({ eventSource, records } as TriggerEvent), [{ kind: "wake" }]);
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
