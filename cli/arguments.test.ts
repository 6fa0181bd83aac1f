import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../shared/errors.ts";
import { parseDuration, parseParameter, parseWholeNumber } from "./arguments.ts";

test("durations have a unit", () => {
  assert.equal(parseDuration("--epoch-interval", "500ms"), 500);
  assert.equal(parseDuration("--epoch-interval", "1s"), 1_000);
  assert.equal(parseDuration("--epoch-interval", "1.5m"), 90_000);
  assert.equal(parseDuration("--epoch-interval", "2h"), 7_200_000);
});

for (const text of ["", "5", "-1s", "0s", "0.1ms", "1 s", "1sec", "s", "1e3s", "99999999999999999h"]) {
  test(`"${text}" is no duration, and the error names option and way out`, () => {
    assert.throws(
      () => parseDuration("--task-timeout", text),
      (error: unknown) =>
        error instanceof UsageError &&
        error.code === "invalid-duration" &&
        error.message.startsWith(`--task-timeout takes a duration, not "${text}"`) &&
        error.wayOut?.includes("500ms") === true,
    );
  });
}

test("a number without a unit most likely means seconds", () => {
  assert.throws(() => parseDuration("--epoch-interval", "5"), /Did you mean 5s\?/);
});

test("whole numbers from a least one", () => {
  assert.equal(parseWholeNumber("--parallelism", "12"), 12);
  assert.equal(parseWholeNumber("--any", "0", 0), 0);
  for (const text of ["", "0", "-1", "1.5", "1e3", "0x10", "9007199254740993", "many"]) {
    assert.throws(() => parseWholeNumber("--parallelism", text), /--parallelism takes a whole number from 1, not/);
  }
});

test("parameters are collected, and values may hold anything", () => {
  let parameters = parseParameter("input=a=b");
  parameters = parseParameter("output=", parameters);
  parameters = parseParameter("input=c", parameters);
  assert.deepEqual(parameters, { input: "c", output: "" });
  assert.deepEqual(Object.keys(parseParameter("__proto__=x")), ["__proto__"]);
});

test("a parameter without a name or a value is refused", () => {
  for (const text of ["input", "=x", ""]) assert.throws(() => parseParameter(text), /--set takes NAME=VALUE/);
});
