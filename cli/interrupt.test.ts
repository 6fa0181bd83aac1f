import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { listenForInterrupt } from "./interrupt.ts";

function listen() {
  const told: string[] = [];
  const exit = mock.method(process, "exit", () => {});
  const interrupt = listenForInterrupt({ first: () => told.push("first"), second: () => told.push("second") });
  return { told, exits: () => exit.mock.calls.map((call) => call.arguments[0]), interrupt };
}

test("the first Ctrl-C asks, one that npx repeats at once is the same, and the next one ends", async () => {
  const { told, exits, interrupt } = listen();
  using _ = interrupt;
  assert.equal(interrupt.signal.aborted, false);
  process.emit("SIGINT", "SIGINT");
  process.emit("SIGINT", "SIGINT");
  assert.equal(interrupt.signal.aborted, true);
  assert.deepEqual([told, exits()], [["first"], []]);
  await setTimeout(300);
  process.emit("SIGINT", "SIGINT");
  assert.deepEqual([told, exits()], [["first", "second"], [130]]);
});

test("SIGTERM is like the first Ctrl-C, however often it comes", async () => {
  const { told, exits, interrupt } = listen();
  using _ = interrupt;
  process.emit("SIGTERM", "SIGTERM");
  await setTimeout(300);
  process.emit("SIGTERM", "SIGTERM");
  assert.deepEqual([interrupt.signal.aborted, told, exits()], [true, ["first"], []]);
});

test("nobody listens afterwards", () => {
  const before = process.listenerCount("SIGINT");
  const { interrupt } = listen();
  interrupt[Symbol.dispose]();
  assert.equal(process.listenerCount("SIGINT"), before);
});
