import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeKafka } from "../../../../test/support/kafka/fake-kafka.ts";
import { settingsOf } from "../../../../test/support/kafka/sink-settings.ts";
import { textColumn } from "../../../../test/support/text-column.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { json } from "../../../pipeline/decoders/json.ts";
import { text as textFormat } from "../../../pipeline/decoders/text.ts";
import { toSelector } from "../../../pipeline/pointer.ts";
import type { ColumnRows, RowColumn, TextRows } from "../../../ports/columns.ts";
import type { RefusedRow, Transaction } from "../../../ports/sink.ts";
import { owner } from "../../../testing/sink-scenario.ts";
import { MemoryObjectStore } from "../../memory/object-store.ts";
import { SeededRandom } from "../../memory/random.ts";
import { systemClock } from "../../system/clock.ts";
import { createKafkaSink } from "./sink.ts";

/*
 * JSON that the sink writes by itself, of rows and of columns: its staged bytes, and whatever it refuses, are those of the same encoder that is asked for a text of each row.
 */

type Row = Record<string, unknown>;
type Settings = Partial<KafkaSinkSettings<Row>>;

const now = 1_700_000_000_000;
const context = { ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1", processingTime: now };
const asked: KafkaSinkSettings<Row>["value"] = { name: "json", encode: (row) => json().encode(row) };

async function stagedBy(
  settings: Settings,
  write: (transaction: Transaction<Row>, refused: RefusedRow) => void,
  topic: Record<string, string>,
) {
  const kafka = new FakeKafka();
  kafka.createTopic("out", 3, topic);
  const objects = new MemoryObjectStore();
  const ports = { clock: systemClock, random: new SeededRandom(1) };
  const sink = createKafkaSink<Row>(settingsOf<Row>(settings), kafka.client(), objects, ports);
  await sink.open(owner);
  const transaction = await sink.begin(context);
  const refused: string[] = [];
  write(transaction, (index, { code, message }) => refused.push(`${index} ${code} ${message}`));
  const handle = await sink.preCommit(transaction);
  return { refused, handle, bytes: [...objects.objects.values()].map((bytes) => Buffer.from(bytes).toString("hex")) };
}

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary-ascii", maxLength: 90 }),
  fc.integer({ min: 0, max: 1500 }).map((length) => "x".repeat(length)),
);
const flat = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined));
const times = fc.oneof(
  fc.integer({ min: now - 100_000, max: now + 2000 }),
  fc.constantFrom(-1, now + 0.5, now + 1500, Number.NaN),
);
const configuration = fc.constantFrom<Record<string, string>>(
  {},
  { "cleanup.policy": "compact" },
  { "max.message.bytes": "700" },
  { "message.timestamp.after.max.ms": "1000" },
);
const settings: fc.Arbitrary<Settings> = fc.constantFrom<Settings>(
  {},
  { epochHeader: "epoch", compression: "zstd" },
  { key: undefined },
  { headers: (row) => ({ key: String(row.key) }) },
  { partition: (row) => (row.key === null ? -1 : 1) },
  { timestamp: (row) => (typeof row.n === "number" ? row.n : Number.NaN) },
);
const pointerKey = toSelector<(row: Row) => string>("key", "/key");

test("rows", async () => {
  const other = fc.constantFrom<unknown>(
    { deep: [1] },
    [1n],
    1n,
    new Date(0),
    { toJSON: () => undefined },
    Symbol("s"),
  );
  const row = fc.record({
    key: fc.oneof(text, fc.constant(null), fc.integer()),
    n: fc.oneof({ weight: 20, arbitrary: flat }, { weight: 1, arbitrary: other }),
  });
  const rows = fc.array(
    fc.oneof({ weight: 30, arbitrary: row }, { weight: 1, arbitrary: fc.constant({ toJSON: () => undefined }) }),
  );
  await fc.assert(
    fc.asyncProperty(rows, times, settings, configuration, async (rows, time, settings, topic) => {
      const write = (transaction: Transaction<Row>, refused: RefusedRow) =>
        transaction.write(rows as Row[], refused, (index) => time + (index % 3));
      const written = await stagedBy({ ...settings, value: json() }, write, topic);
      assert.deepEqual(written, await stagedBy({ ...settings, value: asked }, write, topic));
    }),
  );
});

/** Rows with a key and two other fields, in columns of any kind. */
const columns = fc.integer({ min: 0, max: 60 }).chain((length) => {
  const of = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: length, maxLength: length });
  const texts = of(text.map((one) => one.toWellFormed())).map((values) => ({
    values: values as unknown[],
    column: textColumn(values),
  }));
  const numbers = of(fc.double()).map((values) => ({
    values: values as unknown[],
    column: Float64Array.from(values) as RowColumn,
  }));
  const anything = of(fc.oneof(flat, fc.constantFrom<unknown>([1], 1n))).map((values) => ({
    values,
    column: values as RowColumn,
  }));
  return fc.tuple(
    fc.constant(length),
    fc.oneof({ weight: 5, arbitrary: texts }, numbers, anything),
    fc.oneof(texts, numbers, anything),
    numbers,
  );
});

test("columns", async () => {
  await fc.assert(
    fc.asyncProperty(columns, times, settings, configuration, async ([length, ...parts], time, settings, topic) => {
      const names = ["key", "n", "count"];
      const rows = Array.from({ length }, (_, row) =>
        Object.fromEntries(names.map((name, at) => [name, parts[at]!.values[row]])),
      );
      const fields = names.map((name, at) => ({ name, column: parts[at]!.column }));
      const timeOf = (index: number) => time + (index % 3);
      const times = Float64Array.from({ length }, (_, row) => timeOf(row));
      const given: ColumnRows<Row> = { length, fields, times, rows: () => rows };
      const key = settings.key === undefined && "key" in settings ? settings : { ...settings, key: pointerKey };
      const written = await stagedBy(
        { ...key, value: json() },
        (transaction, refused) => transaction.writeColumns!(given, refused),
        topic,
      );
      const plain = await stagedBy(
        { ...key, value: asked },
        (transaction, refused) => transaction.write(rows, refused, timeOf),
        topic,
      );
      assert.deepEqual(written, plain);
    }),
  );
});

test("texts", async () => {
  type Sink = Partial<KafkaSinkSettings<string>>;
  const settings = fc.constantFrom<Sink>(
    {},
    { epochHeader: "epoch", compression: "zstd" },
    { key: (row) => row },
    { headers: (row) => ({ row }) },
    { partition: (row) => (row === "" ? -1 : 1) },
    { timestamp: (row) => now + row.length },
    { topic: () => "out" },
  );
  const rows = fc.array(
    text.map((one) => one.toWellFormed()),
    { maxLength: 60 },
  );
  const property = fc.asyncProperty(rows, times, settings, configuration, async (rows, time, settings, topic) => {
    const timeOf = (index: number) => time + (index % 3);
    const { bytes, ends } = textColumn(rows);
    const given: TextRows = {
      ...{ length: rows.length, bytes, starts: ends, ends: ends.subarray(1) },
      times: Float64Array.from(rows, (_, index) => timeOf(index)),
      rows: () => rows.slice(),
    };
    const all = { key: undefined, ...settings, value: textFormat() } as unknown as Settings;
    const written = await stagedBy(all, (transaction, refused) => transaction.writeTexts!(given, refused), topic);
    const write = (transaction: Transaction<Row>, refused: RefusedRow) =>
      transaction.write(rows as unknown as Row[], refused, timeOf);
    assert.deepEqual(written, await stagedBy(all, write, topic));
  });
  await fc.assert(property, { numRuns: 300 });
});
