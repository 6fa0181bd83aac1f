import assert from "node:assert/strict";
import { test } from "node:test";
import { driversOf } from "./charge.ts";
import { withCollection } from "./collector.ts";

test("each epoch is charged for being collected once, whatever the collector did meanwhile", () => {
  const span = { from: 0, to: 100 };
  const measured = [
    { at: 50, what: "S3 PUT snapshot", usage: { s3Puts: 1 } },
    { at: 60, what: "DynamoDB TransactWriteItems of EPOCH, check HEAD", usage: { writeUnits: 6 } },
    { at: 500, what: "DynamoDB TransactWriteItems of EPOCH, check HEAD", usage: { writeUnits: 8 } },
  ];
  const rows = [
    ["HEAD", 300],
    ["EPOCH#000000000001", 2000],
    ["EPOCH#000000000001#000000000001#ACK#000000000000#000000000000", 700],
    ["EPOCH#000000000002", 900],
  ] as const;
  const found = driversOf(withCollection(measured, rows, 10, span), span);
  const units = found.map(({ what, times, usage }) => [what, times, usage.writeUnits]);
  assert.deepEqual(units, [
    ["S3 PUT snapshot", 1, 0],
    ["collector: a checkpoint is marked as dropped", 10, 10 * 7],
    ["collector: an epoch's rows are deleted", 10, (10 * (2 + 1 + 1)) / 2],
  ]);
});
