import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { viewOf } from "../state/bytes.ts";
import { blockBytes, findBytes, firstOf, wanted } from "./byte-search.ts";

const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 31, 32, 33, 127, 128, 129, 160, 255));
const limits = fc.record({ byte: fc.integer({ min: 0, max: 255 }), below: fc.integer({ min: 1, max: 128 }) });

test("a block finds what a look at each byte finds, wherever it ends", () => {
  fc.assert(
    fc.property(
      fc.array(byte, { minLength: 1, maxLength: 60 }),
      limits,
      fc.nat(),
      fc.nat(),
      (bytes, given, one, other) => {
        const at = one % bytes.length;
        const end = at + 1 + (other % (bytes.length - at));
        const { pattern, addend } = wanted(given.byte, given.below);
        const places: number[] = [];
        let found = findBytes(viewOf(Uint8Array.from(bytes)), bytes.length, at, end, pattern, addend);
        for (; found !== 0; found &= found - 1) places.push(at + firstOf(found));
        const expected = [...bytes.keys()].filter((place) => (bytes[place]! ^ given.byte) < given.below);
        assert.deepEqual(
          places,
          expected.filter((place) => place >= at && place < Math.min(end, at + blockBytes)),
        );
      },
    ),
    { numRuns: 2_000 },
  );
});
