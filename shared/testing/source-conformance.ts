import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { LossError } from "../errors.ts";
import type { KnownPartition, PartitionStatus } from "../ports/source.ts";
import { cutting } from "./source-cuts.ts";
import {
  type Check,
  partitionsOf,
  readValues,
  recordsOf,
  type SourceUnderTest,
  single,
  wholeRange,
} from "./source-scenario.ts";

export type { SourceUnderTest } from "./source-scenario.ts";

/** Makes a partition, read to its middle, impossible to read exactly once. */
type Loss<T> = (input: T, partition: string) => Promise<void>;

/**
 * What every `Source` must do (protocol §7), as tests of `node:test`: ranges give the same records however they are cut and how often they
 * are read, nothing is read twice or left out, and a loss is loud (I8).
 *
 * @param make an empty input; called once a test
 * @param losses what may happen to an input that must stop the pipeline, by name: "a file shrinks"
 */
export function sourceConformance<T extends SourceUnderTest>(
  name: string,
  make: () => Promise<T>,
  losses: Readonly<Record<string, Loss<T>>> = {},
): void {
  const check: Check<T> = (title, body) =>
    test(title, async () => {
      const input = await make();
      try {
        await body(input);
      } finally {
        await input.close();
      }
    });
  suite(`Source: ${name}`, () => {
    discovering(check);
    reading(check);
    cutting(check);
    losing(check, losses);
  });
}

const idPattern = /^[A-Za-z0-9._%~/-]{1,512}$/;

function known(status: PartitionStatus, position: number): KnownPartition {
  // The ledger keeps it as JSON.
  return { id: status.id, identity: JSON.parse(JSON.stringify(status.identity)), position };
}

function discovering(check: Check): void {
  check("all partitions are found, under ids that stay", async (input) => {
    await input.append("one", ["a", "b"]);
    await input.append("two", ["c"]);
    const first = await partitionsOf(input.open());
    const again = await partitionsOf(
      input.open(),
      first.map((one) => known(one, one.start)),
    );
    assert.deepEqual(first.map(({ id }) => id).sort(), again.map(({ id }) => id).sort());
    assert.equal(new Set(first.map(({ id }) => id)).size, 2);
    for (const { id, start, end, high } of first) {
      assert.match(id, idPattern);
      assert.ok(start < end && end <= high);
    }
  });
  check("what is known is not found again, and what is new is", async (input) => {
    await input.append("one", ["a", "b"]);
    const source = input.open();
    const one = await single(source);
    await input.append("two", ["c"]);
    const later = await partitionsOf(input.open(), [known(one, one.end)]);
    assert.equal(later.length, 2);
    assert.equal(later.find(({ id }) => id === one.id)?.end, one.end);
    const two = later.find(({ id }) => id !== one.id);
    assert.ok(two);
    assert.deepEqual(await readValues(source, wholeRange(two)), ["c"]);
  });
  check("a partition goes on where it stopped", async (input) => {
    if (input.grows === false) return;
    await input.append("one", ["a", "b"]);
    const one = await single(input.open());
    await input.append("one", ["c", "d"]);
    const source = input.open();
    const grown = await single(source, [known(one, one.end)]);
    assert.equal(grown.id, one.id);
    assert.deepEqual(await readValues(source, { ...wholeRange(grown), from: one.end }), ["c", "d"]);
    assert.deepEqual(await readValues(source, { ...wholeRange(grown), to: one.end }), ["a", "b"]);
    assert.deepEqual(await readValues(source, { ...wholeRange(one), from: one.end, to: grown.end }), ["c", "d"]);
  });
}

function reading(check: Check): void {
  const values = ["", "a", "ünïcödé \u{1f600}", "x".repeat(1000), " spaces ", "", "__proto__"];
  check("records come in the order of their offsets, each once", async (input) => {
    await input.append("one", values);
    const source = input.open();
    const one = await single(source);
    const records = await recordsOf(source, wholeRange(one));
    assert.deepEqual(
      records.map(({ value }) => value),
      values,
    );
    const offsets = records.map(({ offset }) => offset);
    assert.deepEqual(
      offsets,
      [...new Set(offsets)].sort((a, b) => a - b),
    );
    assert.ok(offsets.every((offset) => offset >= one.start && offset < one.end));
  });
  check("a range that is read again, by another instance, gives the same", async (input) => {
    await input.append("one", values);
    const range = wholeRange(await single(input.open()));
    const first = await recordsOf(input.open(), range);
    await input.append(input.grows === false ? "two" : "one", ["more"]);
    assert.deepEqual(await recordsOf(input.open(), range), first);
  });
  check("an empty range gives nothing", async (input) => {
    await input.append("one", values);
    const one = await single(input.open());
    assert.deepEqual(await readValues(input.open(), { ...wholeRange(one), to: one.start }), []);
  });
  check("much data comes in batches, of which a consumer may take some only", async (input) => {
    const many = Array.from({ length: 50_000 }, (_, n) => `record number ${n} ${"x".repeat(n % 50)}`);
    await input.append("one", many);
    const source = input.open();
    const range = wholeRange(await single(source));
    assert.deepEqual(await readValues(source, range), many);
    let batches = 0;
    for await (const batch of source.read(range)) {
      batches += batch.count > 0 ? 1 : 0;
      if (batches === 2) break;
    }
    assert.ok(batches > 1);
  });
  check("reading ends when it is aborted", async (input) => {
    await input.append("one", values);
    const range = wholeRange(await single(input.open()));
    await assert.rejects(async () => {
      for await (const _ of input.open().read(range, AbortSignal.abort(new Error("enough"))))
        assert.fail("a batch came");
    }, /enough/);
  });
}

function losing<T extends SourceUnderTest>(check: Check<T>, losses: Readonly<Record<string, Loss<T>>>): void {
  for (const [title, lose] of Object.entries(losses)) {
    check(`a loss is loud (I8): ${title}`, async (input) => {
      await input.append(
        "one",
        Array.from({ length: 100 }, (_, n) => `record ${n}`),
      );
      const source = input.open();
      const one = await single(source);
      const { to: half } = await source.cut(wholeRange(one), { records: 50 });
      await lose(input, "one");
      const isLoud = (error: unknown) => error instanceof LossError && error.wayOut !== undefined;
      await assert.rejects(input.open().discover([known(one, half)]), isLoud);
      await assert.rejects(readValues(input.open(), { ...wholeRange(one), from: half }), isLoud);
    });
  }
}
