import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { decisionOf, planOf } from "../../testing/ledger/examples.ts";
import { MemoryLedger } from "../memory/ledger.ts";
import { MemoryObjectStore } from "../memory/object-store.ts";
import { Overflow } from "./overflow.ts";
import { decode, encode } from "./rows.ts";

const overflow = () => new Overflow(new MemoryObjectStore(), async () => "p/u/ledger/");

test("a decision of some partitions takes little room, and is read back", async () => {
  const decision = await decisionOf(new MemoryLedger(), 1);
  const [partition] = decision.partitions;
  const partitions = [1, 2, 3, 4].map((n) => ({ ...partition!, id: `lines-0/${n}`, activeAt: 1796051906647 + n }));
  const item = { plan: planOf(1), decision: { ...decision, partitions } };
  const row = await encode("EPOCH#000000000001", item, overflow());
  const bytes = row.decision?.M?.deflate?.B?.length ?? 0;
  assert.ok(bytes > 0 && bytes < 250, `${bytes}`);
  assert.deepEqual(await decode(row, overflow()), item);
});

test("what an earlier version packed by zstd is read", async () => {
  const plan = { partitions: Array.from({ length: 20 }, (_, n) => ({ id: `p-${n}` })) };
  const text = JSON.stringify(plan);
  const zstd = { M: { zstd: { B: zstdCompressSync(text) }, bytes: { N: String(Buffer.byteLength(text)) } } };
  assert.deepEqual(await decode({ plan: zstd }, overflow()), { plan });
});
