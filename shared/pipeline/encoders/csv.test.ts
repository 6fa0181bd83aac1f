import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { csv } from "./csv.ts";

const line = (row: unknown, options: object = {}) =>
  csv<Record<string, unknown>>({ columns: ["a", "b"], ...options }).encode(row as never);

test("values are written as they are, and quoted where RFC 4180 says so", () => {
  assert.equal(line({ a: "x", b: 1.5 }), "x,1.5");
  assert.equal(line({ a: 'say "hi"', b: "a,b" }), '"say ""hi""","a,b"');
  assert.equal(line({ a: "two\nlines", b: "\r" }), '"two\nlines","\r"');
  assert.equal(line({ a: 12345678901234567890n, b: true }), "12345678901234567890,true");
  assert.equal(line({ a: new Date(0), b: -0 }), "1970-01-01T00:00:00.000Z,0");
  assert.equal(line({ a: Number.NaN, b: Number.NEGATIVE_INFINITY }), "NaN,-Infinity");
  assert.equal(line({ a: "=1+1", b: " spaces " }), "=1+1, spaces ");
});

test("null and undefined are empty, an empty text is quoted; a line is never empty", () => {
  assert.equal(line({ a: null, b: "" }), ',""');
  assert.equal(line({}), ",");
  assert.equal(line({ a: null }, { columns: ["a"] }), '""');
});

test("lists and objects are JSON, what has a JSON of its own is that; inherited fields are none", () => {
  assert.equal(line({ a: ["x", 1n], b: { c: [1] } }), '"[""x"",""1""]","{""c"":[1]}"');
  assert.equal(line({ a: { toJSON: () => "1.20" }, b: { toJSON: () => null } }), "1.20,");
  assert.equal(line({}, { columns: ["constructor", "b"] }), ",");
});

test("what has no text is refused", () => {
  for (const row of [null, "text", 5, { a: () => 1 }, { a: Symbol("s") }, { a: "\ud800" }])
    assert.throws(() => line(row), { code: "row-not-csv" });
});

test("other delimiters and line ends; the header is a line of the same kind", () => {
  assert.equal(line({ a: "x;y", b: "a,b" }, { delimiter: ";" }), '"x;y";a,b');
  for (const delimiter of ["\t", "|", "^", "]", "-", "\\", "."])
    assert.equal(line({ a: `x${delimiter}`, b: 1 }, { delimiter }), `"x${delimiter}"${delimiter}1`);
  const { file } = csv<{ "a,b": 1 }>({ columns: ["a,b"], lineEnd: "\r\n" });
  assert.deepEqual([file?.header, file?.lineEnd], ['"a,b"', "\r\n"]);
  assert.equal(csv<{ a: 1 }>({ columns: ["a"], header: false }).file?.header, undefined);
});

test("options that are not possible are refused", () => {
  const refused = (options: object, code = "invalid-option") =>
    assert.throws(() => csv(options as never), { kind: "usage", code });
  for (const columns of [undefined, [], "a", [1], ["a", "a"], ["\ud800"]]) refused({ columns });
  for (const delimiter of ["", "ab", '"', "\n", "😀", 5]) refused({ columns: ["a"], delimiter });
  refused({ columns: ["a"], header: "yes" });
  refused({ columns: ["a"], lineEnd: "\n\n" });
  refused({ columns: ["a"], colums: [] }, "unknown-option");
});

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom('"', ",", ";", "\n", "\r", " ", "x", "=") }),
);
const cell = fc.oneof(text, fc.constant(null));

test("another's parser reads the same texts back, and knows null from an empty one", () => {
  const row = fc.record({ a: cell, b: cell, c: cell });
  const options = fc.record({
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    lineEnd: fc.constantFrom("\n", "\r\n"),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), options, (rows, { delimiter, lineEnd }) => {
      const { file, encode } = csv<(typeof rows)[0]>({ columns: ["a", "b", "c"], delimiter, lineEnd: lineEnd as "\n" });
      const lines = [file!.header, ...rows.map((one) => encode(one))];
      const parsed = parse(lines.map((one) => one + lineEnd).join(""), {
        ...{ columns: true, delimiter, record_delimiter: lineEnd },
        cast: (value, { quoting, header }) => (value === "" && !quoting && !header ? null : value),
      });
      assert.deepEqual(
        parsed.map((one) => ({ ...(one as object) })),
        rows.map((one) => ({ ...one })),
      );
    }),
  );
});
