import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLedger } from "../../shared/adapters/memory/ledger.ts";
import type { Ledger } from "../../shared/ports/ledger.ts";
import { begin, committed, planned, planOf } from "../../shared/testing/ledger/examples.ts";
import { formatLag } from "../lag-table.ts";
import { plannedLag } from "./lag.ts";

async function lagAfter(make: (ledger: Ledger) => Promise<unknown>) {
  const ledger = new MemoryLedger();
  await begin(ledger);
  await make(ledger);
  return await plannedLag({ ledger, head: (await ledger.head())! });
}

const planSeeing = (epoch: number, end: number, high: number) => {
  const plan = planOf(epoch);
  return {
    ...plan,
    processingTime: 60_000,
    partitions: plan.partitions.map((one) => ({ ...one, seen: { end, high } })),
  };
};

test("ends are those that the last plan has seen, also beyond what it took", async () => {
  const lag = await lagAfter(async (ledger) => {
    await committed(ledger, 1);
    await planned(ledger, 2, { plan: planSeeing(2, 900, 950) });
  });
  const partition = { id: "p", position: 10, end: 900, high: 950, watermark: null };
  assert.deepEqual(lag, { partitions: [partition], offsets: "bytes", watermark: 1, asOf: 60_000 });
  const lines = formatLag(lag, 180_000).split("\n");
  assert.match(lines[0]!, /^partition +position +end +backlog$/);
  assert.match(lines[1]!, /^p +10 +950 +890$/);
  assert.match(lines[3]!, /^backlog 890 B, watermark/);
  assert.equal(
    lines[4],
    "Ends are as of the last plan of an epoch, at 1970-01-01 00:01:00Z, 2 min 00 s ago; positions are as of now.",
  );
});

test("where the last plan has seen nothing, ends are where it ended", async () => {
  const { partitions } = await lagAfter((ledger) => committed(ledger, 1));
  assert.deepEqual(partitions, [{ id: "p", position: 10, end: 10, high: 10, watermark: null }]);
});

test("nothing was planned yet", async () => {
  assert.equal(
    formatLag(await lagAfter(async () => {}), 0),
    "Nothing has been planned yet, or nothing since a restore: no ends are known.",
  );
});
