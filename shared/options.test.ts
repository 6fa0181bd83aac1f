import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "./errors.ts";
import { checkOptions, nearest } from "./options.ts";

test("an unknown option is refused, and the nearest known one named", () => {
  checkOptions("files.sink()", { path: "out" }, ["path"]);
  assert.throws(
    () => checkOptions("files.source()", { outOfOder: 1 }, ["path", "outOfOrder"]),
    (error: UsageError) => {
      assert(error instanceof UsageError);
      assert.equal(error.code, "unknown-option");
      assert.equal(error.message, 'files.source() has no option "outOfOder". Did you mean "outOfOrder"?');
      assert.equal(error.wayOut, "Known options: path, outOfOrder.");
      return true;
    },
  );
  assert.throws(() => checkOptions("x", JSON.parse('{"__proto__": 1}'), ["path"]), { code: "unknown-option" });
  for (const given of [null, "path", ["path"]] as object[]) {
    assert.throws(() => checkOptions("x", given, ["path"]), { code: "invalid-options" });
  }
});

test("the nearest name is what a slip of the finger leads to, or the only one that begins so", () => {
  const names = ["input", "output", "brokers", "epoch-records", "epoch-interval"];
  assert.equal(nearest("inptu", names), "input");
  assert.equal(nearest("Output", names), "output");
  assert.equal(nearest("broker", names), "brokers");
  assert.equal(nearest("epoch-r", names), "epoch-records");
  assert.equal(nearest("epoch", names), undefined);
  assert.equal(nearest("topic", names), undefined);
  assert.equal(nearest("", names), undefined);
  assert.equal(nearest("t", ["k"]), undefined);
});
