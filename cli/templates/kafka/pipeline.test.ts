import assert from "node:assert/strict";
import { test } from "node:test";
import { testPipeline } from "epochflow/testing";
import orders from "./pipeline.ts";

const at = Date.parse("2026-01-05T12:00:00Z");
const order = (id: string, country: string, cents: number) => ({
  ...{ id, country, cents },
  placedAt: "2026-01-05T12:00:00Z",
});

test("revenue by country and minute, by the time of the records", async () => {
  const t = testPipeline(orders);
  t.send(order("1", "DE", 500), { timestamp: at + 1000 });
  t.send(order("2", "DE", 250), { timestamp: at + 59_000 });
  t.send(order("3", "DE", 100), { timestamp: at + 60_000 });
  await t.advanceTo(at + 60_000);
  assert.deepEqual(t.rows(), [{ country: "DE", minute: "2026-01-05T12:00:00.000Z", orders: 2, cents: 750 }]);
  assert.equal(String(t.records()[0]?.key), "DE");
});

test("what is no order is kept as a dead letter", async () => {
  const t = testPipeline(orders);
  t.send("no JSON").send(order("4", "DE", 0.5));
  await t.epoch();
  const errors = t.rows<{ error: string }>("dead-letter").map(({ error }) => error);
  assert.equal(errors.length, 2);
  assert.equal(errors[1], "cents of 4 is no whole number");
});
