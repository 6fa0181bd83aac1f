import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { json } from "../../pipeline/decoders/json.ts";
import { follow, tokensOf } from "../../pipeline/pointer.ts";
import { DocumentScanner } from "./document-scanner.ts";
import { found } from "./fields.ts";
import { damagedDocument, document } from "./test-documents.ts";

const pointers = ["/a", "/a/b", "/a/b/0", "/a/0", "/a/1/b", "/0", "/ä", "/a~1b", "/", "/b/b/b", "/__proto__"];
const decoder = json();

/** What the pointers lead to in a document among others; undefined: it was not taken. */
function scanned(document: Uint8Array): unknown[] | undefined {
  const bytes = Buffer.concat([Buffer.from('{"a":1} "'), document, Buffer.from(' 1"}]')]);
  const scanner = new DocumentScanner(pointers, 3);
  // What was there before must not shine through.
  scanner.scan(Buffer.from('{"a":[{"b":1}],"0":7,"ä":8,"":9}'), 0, 33, 2);
  if (!scanner.scan(bytes, 9, 9 + document.length, 2)) return undefined;
  return scanner.fields.map((field) => field.value(bytes, 2));
}

function plain(document: Uint8Array): { values: unknown[] } | undefined {
  let value: unknown;
  try {
    value = decoder.decode(Buffer.from(document), 0, document.length);
  } catch {
    return undefined;
  }
  return { values: pointers.map((pointer) => follow(tokensOf("a test", pointer))(value)) };
}

/** The scanner takes nothing that `JSON.parse` refuses, and finds what it would have made. Returns whether it took it. */
function agrees(document: Uint8Array): boolean {
  const values = scanned(document);
  if (values === undefined) return false;
  assert.deepStrictEqual({ values }, plain(document), Buffer.from(document).toString("latin1"));
  return true;
}

test("what the scanner takes, JSON.parse takes, and both find the same", () => {
  let taken = 0;
  fc.assert(
    fc.property(document, (bytes) => {
      assert.ok(plain(bytes));
      if (agrees(bytes)) taken++;
    }),
    { numRuns: 3000 },
  );
  assert.ok(taken > 1500, `only ${taken} of 3000 were taken`);
});

test("the same of documents in which bytes are wrong, missing or too many", () => {
  let taken = 0;
  fc.assert(
    fc.property(damagedDocument, (bytes) => {
      if (agrees(bytes)) taken++;
    }),
    { numRuns: 8000 },
  );
  assert.ok(taken > 300, `only ${taken} of 8000 were taken`);
});

test("what is refused", () => {
  for (const bad of [
    ...[
      "",
      " ",
      "{",
      "}",
      "[",
      "]",
      "[1,]",
      "[,1]",
      "{,}",
      '{"a":1,}',
      '{"a"}',
      '{"a":}',
      '{"a" 1}',
      "{a:1}",
      "{'a':1}",
    ],
    ...[
      "01",
      "-",
      "-a",
      "1.",
      ".5",
      "1.e5",
      "1e",
      "1e+",
      "+1",
      "0x1",
      "NaN",
      "Infinity",
      "1 2",
      "tru",
      "truee",
      "nul",
      "TRUE",
    ],
    ...[
      '"',
      '"\\"',
      '"\\u12"',
      '"\\u12g4"',
      '"\\x"',
      '"\n"',
      '"\0"',
      "\ufeff1",
      "[1 2]",
      '{"a":1 "b":2}',
      "{} x",
      "/**/1",
    ],
  ]) {
    assert.equal(scanned(Buffer.from(bad)), undefined, bad);
    assert.equal(plain(Buffer.from(bad)), undefined, bad);
  }
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
  ])
    assert.equal(scanned(Uint8Array.from(bytes)), undefined);
});

test("what is left to JSON.parse: names with escapes or twice where a pointer passes, and many levels; elsewhere they do no harm", () => {
  const deep = (levels: number, what: string) =>
    `${what.repeat(levels)}1${what === "[" ? "]".repeat(levels) : "}".repeat(levels)}`;
  for (const left of [
    '{"\\u0061":1}',
    '{"a":1,"a":2}',
    '{"a":{"b":1},"a":2}',
    deep(101, "["),
    deep(101, '{"x":'),
    deep(50_000, "["),
  ])
    assert.equal(scanned(Buffer.from(left)), undefined, left.slice(0, 50));
  for (const taken of ['{"x":{"\\u0061":1,"a":1,"a":2}}', '{"x":1,"x":2}', deep(100, "["), deep(100, '{"x":')])
    assert.ok(agrees(Buffer.from(taken)), taken);
});

test("a text without escapes is a slice, and so is a number", () => {
  const bytes = Buffer.from('{"a":"é","b":-1.5e3,"0":"\\n"}');
  const scanner = new DocumentScanner(["/a", "/b", "/0", "/none"], 1);
  assert.ok(scanner.scan(bytes, 0, bytes.length, 0));
  const [a, b, zero, none] = scanner.fields;
  assert.deepEqual(
    [a, b, zero, none].map((field) => field!.kinds[0]),
    [found.text, found.number, found.escapedText, found.nothing],
  );
  assert.equal(bytes.toString("utf8", a!.starts[0], a!.ends[0]), "é");
  assert.equal(bytes.toString("utf8", b!.starts[0], b!.ends[0]), "-1.5e3");
});
