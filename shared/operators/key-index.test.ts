import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Key } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { encodeKey } from "../state/key-codec.ts";
import { KeyIndex } from "./key-index.ts";

const part = fc.constantFrom("", "a", "b", "1", "__proto__", 0, -0, 1, true, false, 1n, 0n);
const key: fc.Arbitrary<Key> = fc.oneof(part, fc.array(part, { maxLength: 3 }));

function bytesOf(value: Key): string {
  const writer = new ByteWriter();
  encodeKey(writer, value);
  return writer.view().toString("hex");
}

test("two keys have one number exactly if they have the same bytes", () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      const index = new KeyIndex();
      const model = new Map<string, number>();
      for (const value of keys) {
        const id = bytesOf(value);
        assert.equal(index.find(value), model.get(id));
        if (model.has(id)) continue;
        assert.equal(index.add(value), model.size);
        model.set(id, model.size);
      }
      assert.deepEqual(index.keys.map(bytesOf), [...model.keys()]);
    }),
  );
});
