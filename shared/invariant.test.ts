import assert from "node:assert/strict";
import { test } from "node:test";
import { EpochflowError } from "./errors.ts";
import { invariant } from "./invariant.ts";

test("invariant: passes what holds, and is loud about what does not", () => {
  let made = 0;
  const text = () => `number ${++made}`;
  invariant("I1", true, text);
  assert.equal(made, 0);
  assert.throws(
    () => invariant("I1", false, text, { epoch: 3 }),
    (error) => {
      assert(error instanceof EpochflowError);
      const { kind, code, message, place } = error.describe();
      assert.deepEqual(
        { kind, code, message, place },
        { kind: "loss", code: "invariant-I1", message: "I1 does not hold: number 1", place: { epoch: 3 } },
      );
      return true;
    },
  );
});
