import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { dictionary, pack, unpack } from "./packing.ts";

test("what is packed is unpacked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      assert.equal(await unpack(pack(text), Buffer.byteLength(text)), text);
    }),
  );
});

test("the dictionary is what it was: rows are read by it", () => {
  assert.equal(hash("sha256", dictionary), "caf37169bb066173410bd4a57bbb7b1b43a20d66705c07da6e10b8b22d05a9b7");
});

test("nothing is inflated beyond the length that is told", async () => {
  const text = JSON.stringify("x".repeat(10_000));
  await assert.rejects(unpack(pack(text), 100));
});
