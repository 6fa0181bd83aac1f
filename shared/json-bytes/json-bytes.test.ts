import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { textColumn } from "../../test/support/text-column.ts";
import type { RowColumn } from "../ports/columns.ts";
import { JsonColumns } from "./columns.ts";
import { mostNumberBytes, writeNumber } from "./number.ts";
import { JsonRow, type RowWriter } from "./rows.ts";

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "binary-ascii", maxLength: 80 }),
  fc.constantFrom('"', "\\", "\u2028", "\u007f", "\ud800", "a\udc00b", "\u0000\b\t\n\f\r\u001f", "ä€😀"),
);
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(0, -0, 1e15, 1e15 - 1, -1e15 + 1, 99999999, 1e8, 1e21, 5e-324, Number.NaN, Number.POSITIVE_INFINITY),
);
const leftOut = fc.constantFrom<unknown>(undefined, () => 1, Symbol("s"));
const flat = fc.oneof(text, number, fc.boolean(), fc.constant(null), leftOut);
const name = fc.oneof(fc.constantFrom("word", "count", "1", "0", "__proto__x"), text);

/** What the writer puts between bytes that are not its own; undefined if it leaves the row to others. */
function written(writer: RowWriter, room: number): string | undefined {
  const bytes = Buffer.alloc(room + 10, 0xee);
  const end = writer.write(bytes, 5, 5 + room);
  assert.ok(bytes.subarray(0, 5).every((byte) => byte === 0xee));
  assert.ok(
    bytes.subarray(5 + room).every((byte) => byte === 0xee),
    "not beyond its limit",
  );
  return end < 0 ? undefined : bytes.toString("utf8", 5, end);
}

test("numbers are those of JSON.stringify", () => {
  const bytes = Buffer.alloc(mostNumberBytes);
  const check = (value: number) =>
    assert.equal(bytes.toString("latin1", 0, writeNumber(bytes, 0, value)), JSON.stringify(value));
  fc.assert(fc.property(number, check));
  for (let power = 0; power < 17; power++) for (const near of [-1, 0, 1]) check(10 ** power + near);
});

test("flat rows are those of JSON.stringify, one after the other", () => {
  const writer = new JsonRow();
  fc.assert(
    fc.property(fc.array(fc.dictionary(name, flat, { noNullPrototype: true }), { maxLength: 5 }), (rows) => {
      for (const row of rows) {
        writer.row = row;
        assert.equal(written(writer, 8000), JSON.stringify(row));
      }
    }),
  );
});

test("what is no flat row, or has its own say, is left to others", () => {
  class Own {
    readonly n = 1;
  }
  const hidden = Object.defineProperty({ n: 1 }, "toJSON", { value: () => "hidden" });
  const thrower = {
    get n(): number {
      throw new Error("no");
    },
  };
  const others = [
    null,
    undefined,
    1,
    "text",
    [1],
    { a: [1] },
    { a: {} },
    { a: 1n },
    { a: new Date(0) },
    new Own(),
    hidden,
    thrower,
  ];
  for (const row of [...others, Object.create(null), Object.create({ inherited: 1 }), { toJSON: () => 1 }]) {
    const writer = new JsonRow();
    writer.row = row;
    assert.equal(written(writer, 1000), undefined);
  }
});

test("a row is written in its room, or not at all", () => {
  fc.assert(
    fc.property(fc.dictionary(name, flat, { noNullPrototype: true }), fc.integer({ min: 0, max: 200 }), (row, room) => {
      const writer = new JsonRow();
      writer.row = row;
      assert.ok([undefined, JSON.stringify(row)].includes(written(writer, room)));
    }),
  );
});

test("rows in columns are those of JSON.stringify, batch after batch", () => {
  const rows = 3;
  const of = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: rows, maxLength: rows });
  const wellFormed = text.map((one) => one.toWellFormed());
  const column = fc.oneof(
    of(wellFormed).map((values) => ({ values: values as unknown[], column: textColumn(values) })),
    of(number).map((values) => ({ values: values as unknown[], column: Float64Array.from(values) as RowColumn })),
    of(flat).map((values) => ({ values, column: values as RowColumn })),
  );
  const fields = fc.uniqueArray(fc.record({ name: fc.string({ unit: "grapheme" }).map((one) => `f${one}`), column }), {
    selector: (field) => field.name,
  });
  const writer = new JsonColumns();
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 3 }), fc.integer({ min: 0, max: 300 }), (batches, room) => {
      for (const batch of batches) {
        const objects = Array.from({ length: rows }, (_, row) =>
          Object.fromEntries(batch.map((field) => [field.name, field.column.values[row]])),
        );
        const named = batch.map((field) => ({ name: field.name, column: field.column.column }));
        writer.begin({ length: rows, fields: named });
        for (const [row, object] of objects.entries()) {
          writer.row = row;
          assert.equal(written(writer, 20_000), JSON.stringify(object));
          assert.ok([undefined, JSON.stringify(object)].includes(written(writer, room)));
        }
      }
    }),
  );
});

test("a row with a value that is no flat one is left to others", () => {
  const writer = new JsonColumns();
  for (const value of [[], {}, 1n, new Date(0)]) {
    writer.begin({ length: 1, fields: [{ name: "a", column: [value] }] });
    assert.equal(written(writer, 1000), undefined);
  }
});
