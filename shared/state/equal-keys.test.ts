import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { viewOf } from "./bytes.ts";
import { equalKeys, readAhead } from "./equal-keys.ts";

test("keys are equal if all their bytes are, whatever follows them", () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 });
  const behind = fc.uint8Array({ minLength: readAhead, maxLength: readAhead });
  fc.assert(
    fc.property(bytes, behind, behind, fc.nat(14), (key, one, other, kept) => {
      for (let changed = -1; changed < key.length; changed++) {
        const second = key.map((byte, at) => (at === changed ? byte ^ 0x80 : byte));
        const own = viewOf(Buffer.concat([Buffer.of(7), key, one]));
        const view = viewOf(Buffer.concat([Buffer.of(9, 9), second.subarray(1), other.subarray(0, kept)]));
        assert.equal(equalKeys(own, 1, key.length, second[0]!, view, 2), changed < 0);
      }
    }),
  );
});
