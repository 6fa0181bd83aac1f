import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source, SourceRange } from "../ports/source.ts";
import { readAhead } from "./read-ahead.ts";

const ranges = Array.from(
  { length: 9 },
  (_, index): SourceRange => ({ id: `p/${index}`, identity: null, from: 0, to: 1 }),
);

/** Tells which ranges are opened, and by which signal they are given up. */
function watched() {
  const opened: string[] = [];
  const signals: AbortSignal[] = [];
  const read: Source["read"] = ({ id }, signal) => {
    opened.push(id);
    signals.push(signal!);
    return (async function* () {})();
  };
  return { source: { read } as Source, opened, signals };
}

test("ranges come in order, and some are open before their turn, but not all", async () => {
  const { source, opened, signals } = watched();
  const order: string[] = [];
  const ahead: number[] = [];
  for await (const { range } of readAhead(source, ranges)) {
    order.push(range.id);
    ahead.push(opened.length - order.length);
  }
  const all = ranges.map(({ id }) => id);
  assert.deepEqual([order, opened], [all, all]);
  assert.deepEqual(ahead, [3, 3, 3, 3, 3, 3, 2, 1, 0]);
  assert.ok(signals.every(({ aborted }) => aborted));
});

test("what is open when a task fails is given up", async () => {
  const { source, opened, signals } = watched();
  const failing = async () => {
    for await (const { range } of readAhead(source, ranges)) if (range.id === "p/1") throw new Error("bad record");
  };
  await assert.rejects(failing, /bad record/);
  assert.equal(opened.length, 5);
  assert.ok(signals.every(({ aborted }) => aborted));
});

test("no ranges, and fewer than may be open", async () => {
  for (const some of [[], ranges.slice(0, 2)]) {
    const { source, opened } = watched();
    for await (const _ of readAhead(source, some));
    assert.equal(opened.length, some.length);
  }
});
