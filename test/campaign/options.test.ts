import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions } from "./options.ts";

const parsed = (...args: string[]) => {
  const options = parseOptions(args);
  assert.ok(options !== "help");
  return options;
};

test("ten minutes by default, unless it has another end", () => {
  assert.equal(parsed().minutes, 10);
  assert.equal(parsed("--rounds", "3").minutes, Number.POSITIVE_INFINITY);
  const { target, minutes, disturbances, seed } = parsed(
    ...["--target", "emulator", "--minutes", "35", "--disturbances", "200", "--seed", "17"],
  );
  assert.deepEqual(
    { target, minutes, disturbances, seed },
    { target: "emulator", minutes: 35, disturbances: 200, seed: 17 },
  );
});

test("what is wrong is named", () => {
  assert.throws(() => parsed("--target", "aws"), /--target takes local or emulator, not "aws"/);
  assert.throws(() => parsed("--minutes", "soon"), /--minutes takes a whole number/);
  assert.throws(() => parsed("--minuets", "3"), /minuets/);
});
