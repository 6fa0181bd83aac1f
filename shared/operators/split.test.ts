import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { splitFunction } from "../pipeline/text-split.ts";
import { compileSplit } from "./split.ts";
import { Texts } from "./values.ts";

/** Texts one after the other in one buffer, as the values of a batch, with something between them that belongs to none. */
function textsOf(values: readonly string[]): Texts {
  const starts: number[] = [];
  const ends: number[] = [];
  let bytes = Buffer.alloc(0);
  for (const value of values) {
    starts.push(bytes.length + 1);
    bytes = Buffer.concat([bytes, Buffer.from(`a${value} `)]);
    ends.push(bytes.length - 1);
  }
  const rows = Int32Array.from(values, (_, row) => row * 3);
  const columns = { rows, starts: Int32Array.from(starts), ends: Int32Array.from(ends) };
  // The last text ends where the buffer does.
  return new Texts(undefined as never, bytes.subarray(0, ends.at(-1)), { count: values.length, ...columns });
}

const text = fc.array(fc.constantFrom(..."aab \té→"), { maxLength: 70 }).map((characters) => characters.join(""));
const texts = fc.array(text, { minLength: 1, maxLength: 8 });
const separator = fc.option(fc.constantFrom("a", "aa", "aba", "ab", " ", "é", "→", "a→", "b\t"), { nil: undefined });

test("pieces are those of the strings, also where separators overlap, and with a batch that was cut before", () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), separator, (batches, separator) => {
      const how = separator === undefined ? {} : { separator };
      const [split, splitString] = [compileSplit(how), splitFunction(how)];
      for (const batch of batches) {
        const pieces = split(textsOf(batch));
        const expected = batch.flatMap((value, row) => splitString(value).map((piece) => [row * 3, piece]));
        assert.deepEqual(
          pieces.values.map((piece, index) => [pieces.rows[index], piece]),
          expected,
        );
      }
    }),
    { numRuns: 500 },
  );
});
