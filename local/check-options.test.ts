import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRunOptions } from "./check-options.ts";
import type { RunOptions } from "./options.ts";

test("run refuses options that it does not know, and values of another kind", () => {
  const refused: [unknown, RegExp][] = [
    [{ sate: "x" }, /has no option "sate". Did you mean "state"/],
    [{ epochRecords: 0 }, /epochRecords is 0/],
    [{ parallelism: 1.5 }, /parallelism is 1.5/],
    [{ retain: "3" }, /retain is 3/],
    [{ attempts: null }, /attempts is null/],
    [{ state: 5 }, /state is 5/],
    [{ state: "" }, /state is /],
    [{ hold: "no" }, /hold is no/],
    [{ wait: 1 }, /wait is 1/],
    [{ parameters: { input: 5 } }, /parameters is/],
    [{ onProgress: {} }, /onProgress is/],
    [{ signal: new AbortController() }, /signal is/],
  ];
  for (const [options, message] of refused)
    assert.throws(() => checkRunOptions(options as RunOptions), { name: "UsageError", message });
});

test("run takes every option, and undefined for each", () => {
  const { signal } = new AbortController();
  const all = {
    parameters: { input: "x" },
    state: "s",
    epochRecords: 1,
    epochIntervalMs: 1,
    parallelism: 1,
    hold: true,
    wait: false,
  };
  checkRunOptions({
    ...all,
    taskTimeoutMs: 1,
    attempts: 1,
    retain: 1,
    onProgress: () => {},
    onMessage: () => {},
    signal,
  });
  checkRunOptions({ state: undefined, hold: undefined } as unknown as RunOptions);
});
