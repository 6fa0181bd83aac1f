import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteReader, MalformedError } from "./bytes.ts";
import { checkData, dataBytes, decodeData, NotDataError } from "./codec.ts";

function roundTrip(value: unknown): unknown {
  const reader = new ByteReader(dataBytes(value));
  const result = decodeData(reader);
  assert.equal(reader.left, 0);
  return result;
}

const data = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(undefined, null, true, false, -0, Number.NaN, Number.POSITIVE_INFINITY, "__proto__"),
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.bigInt(),
    fc.string({ unit: "binary" }),
    // Half of a surrogate pair.
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.sparseArray(tie("value"), { maxNumElements: 3, maxLength: 20 }),
    fc.array(fc.tuple(tie("value"), tie("value"))).map((entries) => new Map(entries)),
    fc.array(tie("value")).map((items) => new Set(items)),
    fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), tie("value"), { noNullPrototype: false }),
  ),
})).value;

test("data comes back as it was", () => {
  fc.assert(fc.property(data, (value) => assert.deepStrictEqual(roundTrip(value), value)));
});

test("equal data makes equal bytes", () => {
  fc.assert(fc.property(data, (value) => assert.deepEqual(dataBytes(roundTrip(value)), dataBytes(value))));
});

test("a property called __proto__ is a property", () => {
  const result = roundTrip(JSON.parse('{"__proto__":{"admin":true}}')) as object;
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.deepEqual(Object.keys(result), ["__proto__"]);
  assert.equal("admin" in result, false);
});

test("what is no data is refused by name", () => {
  class Sketch {}
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const refused: [unknown, RegExp][] = [
    [() => 1, /function/],
    [Symbol("x"), /symbol/],
    [new Sketch(), /instance of Sketch/],
    [[{ deep: new Map([[1, new Sketch()]]) }], /instance of Sketch/],
    [/x/, /instance of RegExp/],
    [Buffer.from("x"), /instance of Buffer/],
    [new Float64Array(1), /instance of Float64Array/],
    [cycle, /cycle/],
  ];
  for (const [value, message] of refused) {
    assert.throws(
      () => checkData(value),
      (error) => error instanceof NotDataError && message.test(error.message),
    );
  }
});

test("any bytes decode to data or are malformed, and nothing else happens", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        checkData(decodeData(new ByteReader(Buffer.from(bytes))));
      } catch (error) {
        assert.ok(error instanceof MalformedError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
