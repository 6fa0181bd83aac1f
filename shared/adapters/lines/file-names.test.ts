import assert from "node:assert/strict";
import { test } from "node:test";
import { FileNames } from "./file-names.ts";

const files = [
  "a.log",
  "a.log.1",
  "b/c.log",
  "b/c.txt",
  ".hidden.log",
  "b/.hidden.log",
  "_SUCCESS",
  "_tmp/x.log",
  "b/A.LOG",
  "x.log~",
];

test("hidden files, and those set aside, are no input, whatever is included", () => {
  const visible = files.filter((file) => new FileNames({}).isInput(file));
  assert.deepEqual(visible, ["a.log", "a.log.1", "b/c.log", "b/c.txt", "b/A.LOG", "x.log~"]);
  assert.equal(new FileNames({ include: [".hidden.log", "_*", "**"] }).isInput("_SUCCESS"), false);
});

test("a pattern is for the name, or with a slash for the path; exclude goes before include", () => {
  const chosen = (options: ConstructorParameters<typeof FileNames>[0]) =>
    files.filter((file) => new FileNames(options).isInput(file));
  assert.deepEqual(chosen({ include: "*.log" }), ["a.log", "b/c.log"]);
  assert.deepEqual(chosen({ include: "*.log*" }), ["a.log", "a.log.1", "b/c.log", "x.log~"]);
  assert.deepEqual(chosen({ include: "*.log*", exclude: ["*~", "*.1"] }), ["a.log", "b/c.log"]);
  assert.deepEqual(chosen({ include: "b/*" }), ["b/c.log", "b/c.txt", "b/A.LOG"]);
  assert.deepEqual(chosen({ include: "**/c.{log,txt}" }), ["b/c.log", "b/c.txt"]);
  assert.deepEqual(chosen({ include: ["a.*", "c.???"] }), ["a.log", "a.log.1", "b/c.log", "b/c.txt"]);
  assert.deepEqual(chosen({ exclude: "b/**" }), ["a.log", "a.log.1", "x.log~"]);
});
