import assert from "node:assert/strict";
import { test } from "node:test";
import { count, files, pipeline, text } from "../index.ts";
import { describe } from "./describe.ts";
import { explain } from "./explain.ts";
import { splitFunction } from "./text-split.ts";

const lines = () => pipeline("demo").from(files.source({ path: "in", value: text() }));
const sink = files.sink({ path: "out" });

test("words are the runs between ASCII white space, and of no other", () => {
  const words = splitFunction({});
  assert.deepEqual(words(" a\t\tb\r\nc\v\fd "), ["a", "b", "c", "d"]);
  assert.deepEqual(words("a\u00a0b\u2003c\u0085d\u001fe"), ["a\u00a0b\u2003c\u0085d\u001fe"]);
  assert.deepEqual(words(""), []);
  assert.deepEqual(words(" \n"), []);
});

test("the parts are those of String.prototype.split, by a text of any length", () => {
  assert.deepEqual(splitFunction({ separator: "," })(",a,,b,"), ["", "a", "", "b", ""]);
  assert.deepEqual(splitFunction({ separator: "aa" })("aaa"), ["", "a"]);
  assert.deepEqual(splitFunction({ separator: "→" })(""), [""]);
});

test("a separator that is none is refused", () => {
  const wrong = (separator: unknown) => () => lines().split(separator as string);
  const error = (problem: string) => ({
    code: "invalid-argument",
    message: `The separator of .split() is a text, not ${problem}`,
  });
  assert.throws(wrong(""), error("an empty one"));
  assert.throws(wrong("\ud83d"), error("half a character"));
  assert.throws(wrong(/,/), error("one of type object"));
  assert.throws(wrong(undefined), error("one of type undefined"));
});

test("keyBy takes a function, options, both or nothing", () => {
  const ids = (stream: Parameters<typeof describe>[0]) => describe(stream).nodes.map(({ id }) => id);
  const counted = { n: count() };
  assert.deepEqual(ids(lines().keyBy().aggregate(counted).to(sink))[1], "key-by-1");
  assert.deepEqual(ids(lines().keyBy({ id: "own" }).aggregate(counted).to(sink))[1], "own");
  assert.deepEqual(ids(lines().keyBy(String, { id: "own" }).aggregate(counted).to(sink))[1], "own");
  assert.throws(() => lines().keyBy({ ID: "own" } as never), { code: "unknown-option" });
  assert.throws(() => lines().keyBy(3 as never), {
    message: ".keyBy() takes a function or a JSON pointer, not a number",
  });
  assert.throws(() => lines().keyBy(null as never), {
    message: ".keyBy() takes a function or a JSON pointer, not null",
  });
});

test("explain names them", () => {
  const stream = lines().split(", ").words().words({ id: "again" }).to(sink);
  const shown = explain(describe(stream)).split("\n");
  assert.deepEqual(shown.slice(7, 10), [
    '  split-1   ← source-1  split at ", "',
    "  words-1   ← split-1   words",
    "  again     ← words-1   words",
  ]);
});
