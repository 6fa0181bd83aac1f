import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { packFinished, unpackFinished } from "./finished-files.ts";
import { agree, type FileIdentity, type WantedFile } from "./identity.ts";

const hash = (text: string, encoding: "hex" | "base64url") => createHash("sha256").update(text).digest(encoding);

function fileOf(n: number, more: Partial<FileIdentity> = {}): WantedFile {
  const file = `2026/11/app-${String(n).padStart(5, "0")}.log`;
  const prints = { sha256: hash(file, "hex"), tail: hash(file, "base64url").slice(0, 22) };
  // Inode and time of birth as file systems give them: the one nearly ascends, the other is nanoseconds.
  const inode = `${4_700_000 + n * 3 + (n % 7)}.1796038${String((n * 7_919_000_017) % 1e12).padStart(12, "0")}`;
  const sizes = { bytes: 1024, seen: 50_000 + ((n * 7919) % 100_000), seenInLine: false, ended: 0 };
  return { id: file, identity: { file, inode, ...prints, ...sizes, ...more }, position: more.seen ?? sizes.seen };
}

test("10,000 finished files take less than 100 bytes each", () => {
  const files = Array.from({ length: 10_000 }, (_, n) => fileOf(n));
  const packed = JSON.stringify(packFinished(files));
  assert.ok(packed.length < 100 * files.length, `${packed.length} bytes`);
});

test("what is unpacked is what was packed, with the first part of its fingerprints", () => {
  const more = fc.record(
    {
      seen: fc.nat(),
      seenInLine: fc.boolean(),
      ended: fc.nat(),
      gone: fc.nat(),
      packed: fc.constant({ format: "gzip" as const, bytes: 77, tail: "x".repeat(22) }),
      file: fc.string({ minLength: 1 }).filter((file) => !/^\.{0,2}$|\/|\uFFFD/.test(file) && file.isWellFormed()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(more, { maxLength: 20 }), (all) => {
      const files = all.map((one, n) => fileOf(n, one));
      const again = unpackFinished(JSON.parse(JSON.stringify(packFinished(files))));
      assert.equal(again.length, files.length);
      for (const [n, { id, identity, position }] of again.entries()) {
        const { sha256, tail = "" } = files[n]!.identity;
        assert.ok(agree(sha256, identity.sha256) && agree(tail, identity.tail!));
        assert.deepEqual({ id, position, identity: { ...identity, sha256, tail } }, files[n]);
      }
      assert.deepEqual(packFinished(again), packFinished(files), "and it can be packed again");
    }),
  );
});

test("a record of another source, and a damaged one, are refused", () => {
  for (const record of ["", null, {}, { finished: "AAAA" }, { finished: [], gone: {} }])
    assert.throws(() => unpackFinished(record), { code: "input-identity-invalid" });
  assert.deepEqual(unpackFinished(undefined), []);
});

test("fingerprints agree if one is the beginning of the other", () => {
  assert.ok(agree("abc", "abc") && agree("ab", "abc") && agree("abc", "ab"));
  assert.ok(!agree("abd", "abc") && !agree("", "abc") && !agree("abc", ""));
});
