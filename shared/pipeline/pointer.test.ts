import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { follow, pointerOf, toKeySelector, tokensOf, toSelector } from "./pointer.ts";

const at = (pointer: string, value: unknown) => follow(tokensOf("a test", pointer))(value);

test("the examples of RFC 6901, section 5", () => {
  const document = {
    ...{ foo: ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4 },
    ...{ "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8 },
  };
  assert.equal(at("", document), document);
  assert.equal(at("/foo", document), document.foo);
  const found = ["/foo/0", "/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", '/k"l', "/ ", "/m~0n"];
  assert.deepEqual(
    found.map((pointer) => at(pointer, document)),
    ["bar", 0, 1, 2, 3, 4, 5, 6, 7, 8],
  );
});

test("what is not there is undefined", () => {
  const document = { list: [1], text: "abc", nothing: null, "~1": "escaped", when: new Date(0) };
  for (const pointer of [
    ...["/none", "/none/deeper", "/list/1", "/list/-", "/list/00", "/list/0.0", "/list/+0", "/list/length", "/list/"],
    ...["/text/0", "/text/length", "/nothing/x", "/constructor", "/toString", "/__proto__", "/when/getTime"],
  ]) {
    assert.equal(at(pointer, document), undefined, pointer);
  }
  assert.equal(at("/nothing", document), null);
  assert.equal(at("/~01", document), "escaped");
  assert.equal(at("/__proto__/x", JSON.parse('{"__proto__":{"x":1}}')), 1);
  for (const value of [undefined, null, 5, "x"]) assert.equal(at("/0", value), undefined);
});

test("every value of a document is found under its pointer, and nowhere else", () => {
  const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
  const name = fc.oneof(fc.string({ unit: fc.constantFrom("~", "/", "0", "1", "a") }), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: "small" }, fc.jsonValue(), fc.array(tie("tree")), fc.dictionary(name, tie("tree"))),
  }));
  const check = (value: unknown, pointer: string, document: unknown) => {
    assert.equal(at(pointer, document), value);
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) check(inner, `${pointer}/${escaped(name)}`, document);
    assert.equal(at(`${pointer}/absent~0`, document), undefined);
  };
  fc.assert(fc.property(tree, (document) => check(document, "", document)));
});

test("a text that is no pointer is refused, with the one that was meant", () => {
  for (const [given, wayOut] of [
    ["user", '"/user"'],
    ["user.id", '"/user/id"'],
    ["#/user/id", '"/user/id"'],
    ["$.user", '"/user"'],
    ["./user", '"/user"'],
    ["/a~b~0c", '"/a~0b~0c"'],
    ["/a~", '"/a~0"'],
  ] as const) {
    assert.throws(
      () => toSelector("key of kafka.sink()", given),
      (error: { kind: string; code: string; message: string; wayOut: string }) => {
        assert.deepEqual([error.kind, error.code], ["usage", "invalid-pointer"]);
        assert(error.message.startsWith(`key of kafka.sink() got ${JSON.stringify(given)}`), error.message);
        assert(error.wayOut.includes(`rite ${wayOut}`), error.wayOut);
        return true;
      },
    );
  }
  assert.throws(() => toSelector("key", {} as never), { code: "invalid-argument", message: /not an object/ });
  assert.throws(() => toKeySelector(".keyBy()", []), { code: "invalid-pointer" });
  assert.throws(() => toKeySelector(".keyBy()", ["/a", 5 as never]), { code: "invalid-pointer", message: /a number/ });
});

test("a selector that was made of pointers knows them, and a function is left alone", () => {
  const own = (value: { user: string }) => value.user;
  assert.equal(toSelector("x", own), own);
  assert.equal(pointerOf(own), undefined);
  assert.equal(pointerOf(toSelector("x", "/user")), "/user");
  assert.equal(pointerOf(toSelector("x", "")), "");
  const pair = toKeySelector<(value: unknown) => unknown>("x", ["/user", "/place/0"]);
  assert.deepEqual(pointerOf(pair), ["/user", "/place/0"]);
  assert.deepEqual(pair({ user: "u", place: ["p"] }), ["u", "p"]);
  assert.equal(pair.length, 1);
});
