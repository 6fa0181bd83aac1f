import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parts } from "./all.ts";
import { measurePart, type Prepared } from "./part.ts";

const sizes = { records: 700, keys: 300 };

suite("each part runs, and what comes of it is right", () => {
  for (const part of parts)
    test(part.name, async () => {
      const figures = await measurePart(part, sizes, 1);
      assert.equal(figures.part, part.name);
      assert.ok(figures.units > 0);
      assert.ok(figures.cpuMicroseconds >= 0);
    });
});

suite("a part's check fails on the result of other input", () => {
  for (const part of parts)
    test(part.name, async () => {
      const one: Prepared = await part.prepare(sizes);
      const other: Prepared = await part.prepare({ records: 699, keys: 299 });
      try {
        const run = await other.ready();
        const result = await run();
        await assert.rejects(async () => await one.check(result));
      } finally {
        await one.close?.();
        await other.close?.();
      }
    });
});
