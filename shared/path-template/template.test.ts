import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserCodeError } from "../errors.ts";
import { PathTemplate } from "./template.ts";
import { longestComponent } from "./value.ts";

const folder = (template: string, row: unknown) => new PathTemplate(template).folderOf(row);
const at = Date.UTC(2026, 10, 3, 4, 5, 6);

test("fields and dates make folders, in UTC", () => {
  const row = { windowStart: at, key: "berlin", when: new Date(at), nested: { n: 7 } };
  assert.equal(folder("{windowStart:yyyy/MM/dd}/{key}", row), "2026/11/03/berlin");
  assert.equal(folder("day={when:yyyy-MM-dd}/{windowStart:HH}h{windowStart:mmss}", row), "day=2026-11-03/04h0506");
  assert.equal(folder("{nested.n}/{{{key}}}", row), "7/{berlin}");
  assert.equal(folder("{windowStart:yyyy}", { windowStart: Date.UTC(-1, 11, 31) + 86_400_000 }), "0000");
});

test("a field may be named by a JSON pointer", () => {
  const row = { when: { start: at }, key: ["b", "c"], "a.b/c": "d" };
  assert.equal(folder("{/when/start:yyyy}/{/key/1}-{/a.b~1c}", row), "2026/c-d");
  assert.throws(() => new PathTemplate("{/a~b}"), { kind: "usage", code: "invalid-pointer" });
  assert.throws(() => folder("{/none}", row), { code: "row-without-path" });
});

test("values are encoded, so that none of them leads anywhere, or is hidden", () => {
  const of = (key: unknown) => folder("{key}", { key });
  assert.deepEqual([".", "..", "", "a/b", "A", "ü", "_x", "x_", "a b", "%", "\0"].map(of), [
    "%2e",
    "%2e%2e",
    "%",
    "a%2fb",
    "%41",
    "%c3%bc",
    "%5fx",
    "x_",
    "a%20b",
    "%25",
    "%00",
  ]);
  assert.deepEqual([200, -1.5, 1n, true].map(of), ["200", "-1%2e5", "1", "true"]);
  assert.deepEqual([["a", 1], ["a"], [], [""], ["a,b"]].map(of), ["a,1", "a,", ",", "%,", "a%2cb,"]);
  assert.equal(folder("{key.1}/{key.0}", { key: ["a", "b"] }), "b/a");
});

test("a row without a fit field is refused, and told why", () => {
  const refused = (template: string, row: unknown, message: RegExp) =>
    assert.throws(
      () => folder(template, row),
      (error) => {
        assert.ok(error instanceof UserCodeError && error.code === "row-without-path");
        assert.match(error.message, message);
        return true;
      },
    );
  refused("{windwStart}", { windowStart: 1 }, /no field "windwStart".*Did you mean "windowStart"/);
  for (const key of [null, undefined, {}, Number.NaN, [[1]], [null], "\ud800", () => 1])
    refused("{key}", { key }, /"key"/);
  for (const time of ["2026", null, Number.NaN, 1e16, -1e15, 1n, new Date(Number.NaN)])
    refused("{time:yyyy}", { time }, /"time" is no time/);
  refused("{constructor}", {}, /no field/);
  refused("{key}", "text", /no field/);
  refused("{a.b}", { a: 1 }, /no field "a\.b"/);
  refused(
    Array.from({ length: 5 }, (_, n) => `{f.${n}}`).join("/"),
    { f: Array(5).fill("x".repeat(300)) },
    /800 bytes/,
  );
});

test("templates that are not possible are refused, with a way out", () => {
  const wrong = [
    "",
    "plain",
    "{}",
    "{a",
    "a}",
    "{a}/",
    "/{a}",
    "{a}//{b}",
    "./{a}",
    "../{a}",
    ".{a}",
    "{a:}",
    "{a:YYYY}",
    "{a:hh}",
    "{a:yyyyMMd}",
  ]
    .concat("{a:yyyy'T'HH}", "{a}\\", "{a}:", "{a}*", "{a}%", "{a}\n", "{a b}", "{a..b}")
    .concat("{a}{b}", "{a}x{b}", "{a},{b}", "{a}{t:yyyy}-{b}");
  for (const template of wrong)
    assert.throws(() => new PathTemplate(template), { kind: "usage", code: "invalid-path-template" }, template);
  for (const template of ["{a}-{b}", "{a}_{b}/{c}", "{a}={b}", "{a}-{t:yyyyMMdd}", "{t:yyyy}{a}", "Country={a}"])
    new PathTemplate(template);
});

const text = fc.oneof(
  fc.string({ unit: "binary" }).filter((one) => one.isWellFormed()),
  fc.string({ unit: fc.constantFrom("-", "_", "a", "A", "%", ".", "/", ",", "0", "=") }),
  fc.string({ unit: fc.constantFrom("x", "X", "é"), minLength: 40, maxLength: 240 }),
);
const values = fc.tuple(fc.oneof(text, fc.array(text)), fc.oneof(text, fc.array(text)));

/** As a file system that ignores case tells names apart; and S3, which does not. */
const plain = (path: string) => path.toLowerCase();

for (const template of ["{a}/{b}", "{a}-{b}", "{a}_{b}", "{a}={b}", "x{a}/{b}x", "{a}-{t:yyyyMM}/{b}", "{a}-x_{b}"])
  test(`different values have different folders: ${template}`, () => {
    const paths = new PathTemplate(template);
    const of = ([a, b]: readonly unknown[]) => paths.folderOf({ a, b, t: at });
    fc.assert(
      fc.property(values, values, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        assert.equal(plain(of(one)) === plain(of(other)), same);
        for (const part of of(one).split("/")) {
          assert.ok(part !== "" && !/^[._]/.test(part) && Buffer.byteLength(part) <= longestComponent, part);
          assert.match(part, /^[a-z0-9A-Z%_,=-]+$/);
        }
      }),
      { numRuns: 2000 },
    );
  });

test("values that move over a separator, and long ones that differ in their ends, are told apart", () => {
  const of = (a: string, b: string) => folder("{a}-{b}", { a, b });
  assert.notEqual(of("x-y", "z"), of("x", "y-z"));
  const long = "l".repeat(300);
  assert.notEqual(of(long, "1"), of(long, "2"));
  assert.notEqual(of(`${long}1`, ""), of(`${long}2`, ""));
  // What a shortened name looks like is no text's name.
  const short = of(long, "");
  assert.ok(short.includes("%%"));
});

test("a folder's name fits, too, where the template is long and not in ASCII", () => {
  const template = new PathTemplate(`${"日本".repeat(60)}={key}`);
  const [one, other] = ["a", "b"].map((key) => template.folderOf({ key }));
  assert.ok(Buffer.byteLength(one!) <= longestComponent, one);
  assert.ok(one!.isWellFormed() && !one!.includes("\ufffd") && one !== other);
});
