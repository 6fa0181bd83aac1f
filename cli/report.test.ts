import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { describeError, InfrastructureError, LossError, UsageError, UserCodeError } from "../shared/errors.ts";
import { exitCodeOfError } from "./exit-codes.ts";
import { formatError, formatMessage } from "./report.ts";

const plain = (text: string): string => stripVTControlCharacters(text);

test("an error says what, where and the way out, a line each", () => {
  const error = new LossError("file-shrank", "access.log is shorter than what was read of it\nthe second line", {
    wayOut: "Put the old file back.",
    place: { line: 3, pipeline: "access-log", partition: "access.log", offset: 0 },
  });
  assert.equal(
    plain(formatError(error.describe())),
    `error: access.log is shorter than what was read of it
  the second line
  where: pipeline access-log, partition access.log, offset 0, line 3
  way out: Put the old file back.`,
  );
});

test("what is not known is left out", () => {
  assert.equal(plain(formatError(new UsageError("x", "Wrong").describe())), "error: Wrong");
});

test("an error that nobody foresaw has no stack, and says how to see it", () => {
  const text = plain(formatError(describeError(new TypeError("x is undefined"))));
  assert.equal(text, "error: x is undefined\n  way out: EPOCHFLOW_DEBUG=1 shows where it comes from.");
});

test("messages of a run", () => {
  assert.equal(plain(formatMessage({ level: "info", text: "Waiting." })), "Waiting.");
  const error = new InfrastructureError("disk-full", "No space").describe();
  const text = plain(formatMessage({ level: "warning", text: "Trying again in 2 s.", error }));
  assert.equal(text, "warning: Trying again in 2 s.\nerror: No space");
});

test("exit codes of errors", () => {
  assert.equal(exitCodeOfError(new UsageError("x", "")), 2);
  assert.equal(exitCodeOfError(new LossError("x", "")), 4);
  assert.equal(exitCodeOfError(new UserCodeError("x", "")), 1);
  assert.equal(exitCodeOfError(new InfrastructureError("x", "")), 1);
  assert.equal(exitCodeOfError(new Error("")), 1);
});
