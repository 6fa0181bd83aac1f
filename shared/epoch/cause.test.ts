import assert from "node:assert/strict";
import { test } from "node:test";
import { messageInCause } from "./cause.ts";

test("of an exception of a Lambda function its message is what is told; of all else the text", () => {
  const thrown = { errorMessage: "it does not exist (NoSuchBucket)", errorType: "Runtime.HandlerError" };
  assert.equal(messageInCause(JSON.stringify(thrown)), "it does not exist (NoSuchBucket)");
  for (const text of ["", "Lambda timed out", "{", "null", "17", '{"errorMessage":7}', '{"errorMessage":""}'])
    assert.equal(messageInCause(text), text);
});
