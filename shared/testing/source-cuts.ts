import assert from "node:assert/strict";
import type { CutLimit, Source, SourceRange } from "../ports/source.ts";
import { type Check, pseudoRandom, readValues, single, wholeRange } from "./source-scenario.ts";

/** However a range is cut, its records are the same. */
export function cutting(check: Check): void {
  const random = pseudoRandom(7);
  const some = Array.from({ length: 200 }, (_, n) => `${n} ${"x".repeat(random(120))}`);

  /** Reads a range cut by cut; returns how many records each had. */
  const readCuts = async (source: Source, whole: SourceRange, limit: () => CutLimit) => {
    const values: string[] = [];
    const cuts: { asked: CutLimit; got: number; counted: number | undefined; bytes: number }[] = [];
    for (let from = whole.from; from < whole.to; ) {
      const asked = limit();
      const cut = await source.cut({ ...whole, from }, asked);
      assert.ok(cut.to > from && cut.to <= whole.to, "a cut makes progress");
      const piece = await readValues(source, { ...whole, from, to: cut.to });
      cuts.push({ asked, got: piece.length, counted: cut.records, bytes: cut.bytes });
      values.push(...piece);
      from = cut.to;
    }
    return { values, cuts };
  };

  check("a cut by records is exact", async (input) => {
    await input.append("one", some);
    const source = input.open();
    const whole = wholeRange(await single(source));
    const { values, cuts } = await readCuts(source, whole, () => ({ records: 1 + random(40) }));
    assert.deepEqual(values, some);
    for (const { asked, got, counted } of cuts.slice(0, -1))
      assert.deepEqual([got, counted], [asked.records, asked.records]);
    assert.equal(cuts.at(-1)?.counted, cuts.at(-1)?.got);
  });
  check("a cut by bytes takes at least a record, and gives the same records", async (input) => {
    await input.append("one", some);
    const source = input.open();
    const whole = wholeRange(await single(source));
    for (const bytes of [1, 50, 1000, 100_000]) {
      const { values, cuts } = await readCuts(source, whole, () => ({ bytes }));
      assert.deepEqual(values, some);
      for (const cut of cuts) assert.ok(cut.got === 1 || cut.bytes <= bytes, `${cut.bytes} bytes for ${bytes}`);
    }
  });
  check("of two limits the first that is reached counts", async (input) => {
    await input.append("one", some);
    const source = input.open();
    const whole = wholeRange(await single(source));
    const { values, cuts } = await readCuts(source, whole, () => ({ records: 1 + random(10), bytes: 1 + random(600) }));
    assert.deepEqual(values, some);
    for (const { asked, got, bytes } of cuts) assert.ok(got <= asked.records! && (got === 1 || bytes <= asked.bytes!));
  });
  check("a split is a function of the range, and gives the same records", async (input) => {
    await input.append("one", some);
    const first = input.open();
    const whole = wholeRange(await single(first));
    const { bytes } = await first.cut(whole, {});
    for (const pieces of [2, 3, 10, 1000]) {
      const pieceBytes = Math.ceil(bytes / pieces);
      const source = input.open();
      const cuts = await source.split(whole, pieceBytes);
      assert.deepEqual(await input.open().split(whole, pieceBytes), cuts);
      if (input.splits === false) assert.deepEqual(cuts, []);
      else assert.ok(cuts.length > 0 && cuts.length < pieces * 2);
      const ends = [whole.from, ...cuts, whole.to];
      assert.deepEqual(
        ends,
        [...new Set(ends)].sort((a, b) => a - b),
        "boundaries ascend",
      );
      const values: string[] = [];
      for (const [piece, to] of ends.slice(1).entries())
        values.push(...(await readValues(source, { ...whole, from: ends[piece]!, to })));
      assert.deepEqual(values, some);
    }
    assert.deepEqual(await input.open().split(whole, bytes), []);
  });
}
