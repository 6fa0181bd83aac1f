import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { remount, smallDisk } from "../../../test/support/mount.ts";
import { EpochflowError } from "../../errors.ts";
import { ackOf, begin, committed, planned } from "../../testing/ledger/examples.ts";
import { SqliteLedger } from "./ledger.ts";

test("SqliteLedger: a full disk is an error that names the file, loses nothing, and passes", async (context) => {
  const disk = smallDisk(context, 512 << 10);
  if (!disk) return;
  const file = join(disk, "ledger.db");
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  const id = await planned(ledger, 1);
  const ballast = join(disk, "ballast");
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(1 << 20)));
  let acknowledged = 0;
  const fill = async () => {
    for (; ; acknowledged++) await ledger.ack(id, ackOf("n".repeat(500), { task: acknowledged }));
  };
  await assert.rejects(fill(), { kind: "infrastructure", code: "disk-full", place: { file } });
  assert.equal((await ledger.acks(id)).length, acknowledged);
  rmSync(ballast);
  await ledger.ack(id, ackOf("n", { task: acknowledged }));
  assert.equal((await ledger.acks(id)).length, acknowledged + 1);
  await ledger.close();
});

test("SqliteLedger: a new ledger on a full disk is an error that names the file", async (context) => {
  const disk = smallDisk(context, 64 << 10);
  if (!disk) return;
  assert.throws(() => writeFileSync(join(disk, "ballast"), Buffer.alloc(1 << 20)));
  const file = join(disk, "ledger.db");
  assert.throws(() => new SqliteLedger(file), { kind: "infrastructure", place: { file } });
  rmSync(join(disk, "ballast"));
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  await ledger.close();
});

test("SqliteLedger: a read-only disk is an error that names the file", async (context) => {
  const disk = smallDisk(context, 1 << 20);
  if (!disk) return;
  const file = join(disk, "ledger.db");
  const ledger = new SqliteLedger(file);
  await begin(ledger);
  await committed(ledger, 1);
  await ledger.close();
  remount(disk, "ro");
  const use = async () => {
    const again = new SqliteLedger(file);
    try {
      await again.increment(null);
    } finally {
      await again.close();
    }
  };
  await assert.rejects(
    use(),
    (error) => error instanceof EpochflowError && error.code === "not-permitted" && error.place.file === file,
  );
});
