import assert from "node:assert/strict";
import { test } from "node:test";
import { testPipeline } from "epochflow/testing";
import orders from "./pipeline.ts";

const order = (id: string, placedAt: string, country: string, cents: number) => ({ id, placedAt, country, cents });

test("revenue by country and minute", async () => {
  const t = testPipeline(orders);
  t.send(order("1", "2026-01-05T12:00:01Z", "DE", 500));
  t.send(order("2", "2026-01-05T12:00:59Z", "DE", 250));
  t.send(order("3", "2026-01-05T12:01:00Z", "DE", 100));
  await t.advanceTo(Date.parse("2026-01-05T12:01:00Z"));
  assert.deepEqual(t.rows(), [{ country: "DE", minute: "2026-01-05T12:00:00.000Z", orders: 2, cents: 750 }]);
});

test("what is no order is kept as a dead letter", async () => {
  const t = testPipeline(orders);
  t.send("no JSON").send(order("4", "2026-01-05T12:00:01Z", "DE", 0.5));
  await t.epoch();
  const errors = t.rows<{ error: string }>("dead-letter").map(({ error }) => error);
  assert.equal(errors.length, 2);
  assert.equal(errors[1], "cents of 4 is no whole number");
});
