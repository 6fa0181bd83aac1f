import assert from "node:assert/strict";
import { test } from "node:test";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import fc from "fast-check";
import { z } from "zod";
import { UserCodeError } from "../../errors.ts";
import type { Decoder } from "../topology.ts";
import { toDecoder } from "./decoder.ts";
import { json } from "./json.ts";
import { nullable } from "./nullable.ts";
import { pattern } from "./pattern.ts";
import { text } from "./text.ts";

/** Decodes a record that stands between others, which are not UTF-8. */
function decode<T>(decoder: Decoder<T>, record: string | Uint8Array): T {
  const bytes = Buffer.from(record as Uint8Array);
  return decoder.decode(Buffer.concat([Buffer.of(0xff), bytes, Buffer.of(0xff)]), 1, 1 + bytes.length);
}

const undecodable = (decoder: Decoder<unknown>, record: string | Uint8Array, message: RegExp) =>
  assert.throws(
    () => decode(decoder, record),
    (error: UserCodeError) => {
      assert(error instanceof UserCodeError);
      assert.equal(error.code, "undecodable-record");
      assert.match(error.message, message);
      return true;
    },
  );

test("text is what its bytes say", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => decode(text(), value) === value));
  assert.equal(decode(text(), "\ufffd is a character too"), "\ufffd is a character too");
});

test("text refuses bytes that are not UTF-8", () => {
  for (const bytes of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    undecodable(text(), Uint8Array.from(bytes), /not valid UTF-8/);
  }
});

test("json without a schema parses, and does not quote what it cannot parse", () => {
  fc.assert(fc.property(fc.json(), (document) => assert.deepEqual(decode(json(), document), JSON.parse(document))));
  undecodable(json(), '{"password": "secret', /^The record is not valid JSON, at position 20$/);
  undecodable(json(), "secret", /^The record is not valid JSON$/);
  undecodable(json(), "", /^The record is not valid JSON, but empty$/);
});

test("json with a schema gives the schema's output, and names what does not match", () => {
  const decoder = json(z.object({ user: z.object({ age: z.string().transform(Number) }) }));
  assert.deepEqual(decode(decoder, '{"user": {"age": "7"}, "more": 1}'), { user: { age: 7 } });
  undecodable(decoder, '{"user": {"age": 7}}', /^The record does not match the schema of json\(\) at user\.age$/);
  undecodable(json(z.string()), "7", /at \(the whole value\)$/);
});

test("a schema may name its path's parts by objects", () => {
  const issues = [{ message: "secret", path: [{ key: "user" }, 0] }];
  const schema: StandardSchemaV1 = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } };
  undecodable(json(schema), "7", /at user\.0$/);
});

test("a schema that validates asynchronously is the pipeline's fault, not the record's", () => {
  const validate = () => Promise.reject(new Error("heard by nobody"));
  const rejecting: StandardSchemaV1 = { "~standard": { version: 1, vendor: "test", validate } };
  for (const schema of [rejecting, z.string().refine(async () => true)]) {
    assert.throws(() => decode(json(schema), '"x"'), { code: "async-validator", kind: "usage" });
  }
  assert.throws(() => json(String as never), { code: "invalid-argument" });
});

test("pattern gives the named groups, and refuses what does not match", () => {
  const decoder = pattern<"time" | "status" | "rest">(/^(?<time>\S+) (?<status>\d+)(?<rest> .*)?$/);
  assert.deepEqual(decode(decoder, "12:00 200"), { time: "12:00", status: "200", rest: "" });
  assert.deepEqual(decode(decoder, "12:00 200 ö"), { time: "12:00", status: "200", rest: " ö" });
  undecodable(decoder, "12:00 none", /does not match the regular expression/);
});

test("pattern refuses expressions without names, or with a memory", () => {
  for (const expression of [/(a)/, /(?<a>.)/g, /(?<a>.)/y, /(?<__proto__>.)/, "a" as never]) {
    assert.throws(() => pattern(expression), { code: "invalid-pattern" });
  }
  assert.deepEqual(decode(pattern(/(?<only>B)/i), "abc"), { only: "b" });
});

test("a function of the text, or an object, is a decoder too", () => {
  const words = toDecoder("value", (line: string) => line.split(" "));
  assert.deepEqual(decode(words, "ä b"), ["ä", "b"]);
  undecodable(words, Uint8Array.of(0xff), /not valid UTF-8/);
  const own: Decoder<number> = { name: "length", decode: (_bytes, start, end) => end - start };
  assert.equal(toDecoder("value", own), own);
  for (const other of [text, undefined, null, "text", {}] as never[]) {
    assert.throws(() => toDecoder("value", other), { code: "invalid-argument" });
  }
});

test("text() and json() encode rows, too", () => {
  assert.equal(text().encode("é"), "é");
  assert.throws(() => text().encode(5 as never), { code: "row-not-text", message: /type number/ });
  const rows = [{ a: [1, null] }, "x", null, 0, false, { n: 12n }];
  assert.deepEqual(
    rows.map((row) => json().encode(row)),
    ['{"a":[1,null]}', '"x"', "null", "0", "false", '{"n":"12"}'],
  );
  for (const row of [undefined, () => 1, Symbol("s")]) {
    assert.throws(() => json().encode(row), { code: "row-not-json" });
  }
});

test("nullable() takes nulls, and leaves the rest to its decoder", () => {
  const decoder = nullable((line) => line.length);
  assert.deepEqual([decode(decoder, "abc"), decoder.decodeNull?.()], [3, null]);
  undecodable(nullable(json()), "{", /JSON/);
  assert.throws(() => nullable(text as never), { code: "invalid-argument" });
});
