import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Found, problemsOf } from "./evaluate.ts";
import type { ResultRow } from "./pipeline.ts";
import { type Placed, parseRecord, Records } from "./records.ts";
import type { Shape } from "./shape.ts";

const shape: Shape = {
  source: "files",
  sinks: { rows: "files", late: "files", dead: "files", seen: "files" },
  ...{ partitions: 2, targets: 1, lanes: 1, keys: 3 },
  ...{ windowMs: 5000, everyMs: 5000, allowedLatenessMs: 0, outOfOrderMs: 2000 },
};

/** What a run gives in which nothing is late, and what it is made of. */
function whole(given: Shape = shape): { records: Records; found: Found } {
  const records = new Records(new SeededRandom(7), given);
  records.more(3000);
  const windows = new Map<string, ResultRow>();
  for (const { id, key, time } of records.good) {
    const windowStart = time - (time % given.windowMs);
    const before = windows.get(`${key} ${windowStart}`) ?? { count: 0, sum: 0, last: -1 };
    const { count, sum, last } = before;
    const row = { count: count + 1, sum: sum + id, last: Math.max(last, id) };
    windows.set(`${key} ${windowStart}`, {
      key,
      windowStart,
      windowEnd: windowStart + given.windowMs,
      version: 1,
      ...row,
    });
  }
  const rows = [...windows.values()].sort((one, other) => one.windowStart - other.windowStart);
  const dead = records.bad.map((value) => ({ value }) as Found["dead"][number]);
  const seen = records.good.filter(({ id }) => id % 5 === 0).map(({ id }) => ({ id }));
  return { records, found: { rows, late: [], dead, seen } };
}

/** As if it had come too late for its window. */
function late(found: Found, { id, key, time, largestBefore: _ }: Placed): Found {
  const windowStart = time - (time % shape.windowMs);
  const value = { id, key, time };
  return {
    ...found,
    late: [...found.late, { key, value, timestamp: time, windowStart, windowEnd: windowStart + shape.windowMs }],
    rows: found.rows.flatMap((row) => {
      if (row.key !== key || row.windowStart !== windowStart) return row;
      return row.count === 1 ? [] : { ...row, count: row.count - 1, sum: row.sum - id };
    }),
  };
}

describe("the batch evaluation", () => {
  const { records, found } = whole();
  const problems = (changed: Partial<Found>) => problemsOf(shape, records, { ...found, ...changed });

  it("has all kinds of input, and finds nothing wrong with what is right", () => {
    assert.ok(records.bad.length > 5);
    assert.deepEqual(problems({}), []);
  });

  it("finds a lost row, and one that is doubled, of each sink", () => {
    for (const sink of ["rows", "dead", "seen"] as const) {
      const rows: readonly unknown[] = found[sink];
      assert.equal(problems({ [sink]: rows.slice(1) }).length, 1, `lost from ${sink}`);
      assert.notEqual(problems({ [sink]: [rows[0], ...rows] }).length, 0, `doubled in ${sink}`);
    }
  });

  it("lets a record be late that lies far enough behind, once, and no other", () => {
    // Its sum is changed, too: of the last one of a window, `last` would be another.
    const isLast = new Set(found.rows.map(({ last }) => last));
    const behind = records.good.find(
      ({ id, time, largestBefore }) => time < largestBefore - 20_000 && !isLast.has(id),
    )!;
    const inOrder = records.good.find(({ id, time, largestBefore }) => time > largestBefore && !isLast.has(id))!;
    assert.deepEqual(problemsOf(shape, records, late(found, behind)), []);
    const twice = late(found, behind);
    assert.match(problemsOf(shape, records, { ...twice, late: [...twice.late, ...twice.late] }).join(), /told twice/);
    assert.match(problemsOf(shape, records, late(found, inOrder)).join(), /is not late/);
    assert.match(problems({ late: late(found, behind).late }).join(), /results: .* is missing/);
  });

  it("finds rows in another order, and those of code that was gone", () => {
    assert.match(problems({ rows: found.rows.toReversed() }).join(), /is not after its window before/);
    const rows = found.rows.map((row, index) => ({ ...row, version: index < 20 ? 2 : 1 }));
    assert.match(problems({ rows }).join(), /is of version 1, which was gone/);
  });

  it("takes the last row of a window, where later ones mend it", () => {
    const lenient = { ...shape, allowedLatenessMs: 3000 };
    const other = whole(lenient);
    const mended = other.found.rows.filter(({ count }) => count > 1).map((row) => ({ ...row, count: row.count - 1 }));
    const rows = [...mended, ...other.found.rows];
    assert.deepEqual(problemsOf(lenient, other.records, { ...other.found, rows }), []);
    assert.match(problemsOf(shape, records, { ...found, rows }).join(), /is a second row of its window/);
  });
});

it("a line is read as it was written, and one that is none is refused", () => {
  const records = new Records(new SeededRandom(3), shape);
  const texts = records.more(500).map(({ text }) => text);
  const parsed = texts.filter((text) => !records.bad.includes(text)).map(parseRecord);
  assert.deepEqual(
    parsed,
    records.good.map(({ largestBefore: _, ...record }) => record),
  );
  assert.throws(() => parseRecord(records.bad[0]!), /no record/);
});
