/** Each example on its sample, by its defaults, beside a plain evaluation of the same lines. (The access log has tests of its own: `test/access-log.test.ts`.) */
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cliIn } from "../test/support/cli.ts";
import { temporaryFolder } from "../test/support/folder.ts";

const example = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Runs an example in an empty folder that has the samples; gives the rows of its sinks. */
async function rowsOf(name: string, options: readonly string[], sinks: readonly string[]): Promise<unknown[][]> {
  using folder = temporaryFolder();
  cpSync(example("data"), join(folder.path, "examples/data"), { recursive: true });
  const { code, stderr } = await cliIn(folder.path, "run", example(name), ...options);
  assert.equal(code, 0, stderr);
  const outputs = await Promise.all(sinks.map((sink) => cliIn(folder.path, "read", sink)));
  return outputs.map(({ stdout }) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
}

const sampleLines = (name: string) =>
  readFileSync(example(`data/${name}`), "utf8")
    .trimEnd()
    .split("\n");
const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

test("word-count.ts counts the words of every ten seconds", async () => {
  const [rows] = await rowsOf("word-count.ts", [], ["out/word-count"]);
  const words = sampleLines("lines.tsv").flatMap((line) => {
    const [time, text] = line.split("\t");
    return text!.split(" ").map((word) => ({ word, windowStart: Number(time) - (Number(time) % 10_000) }));
  });
  const expected = [...Map.groupBy(words, (word) => JSON.stringify(word)).values()].map((same) => ({
    ...same[0]!,
    count: same.length,
  }));
  assert.deepEqual(sorted(rows!), sorted(expected));
});

interface Order {
  readonly placedAt: string;
  readonly country: string;
  readonly totalCents: number;
}

test("order-totals.ts ends with each country's total, and has its days from midnight in New York", async () => {
  const sinks = ["out/order-totals/so-far", "out/order-totals/days"];
  const [totals, days] = (await rowsOf("order-totals.ts", ["--epoch-records", "50"], sinks)) as [
    { country: string; upTo: string; orders: number; revenueCents: number }[],
    { country: string; from: string; orders: number; largestCents: number }[],
  ];
  const lines = sampleLines("orders.jsonl").filter((line) => /"totalCents":\d+}$/.test(line));
  const orders = lines.map((line): Order => JSON.parse(line));
  const cents = (all: readonly Order[]) => all.map(({ totalCents }) => totalCents);
  const expected = [...Map.groupBy(orders, ({ country }) => country)].map(([country, all]) => ({
    country,
    upTo: all
      .map(({ placedAt }) => placedAt)
      .sort()
      .at(-1)!,
    orders: all.length,
    revenueCents: cents(all).reduce((sum, one) => sum + one),
  }));
  const last = new Map(totals.map((row) => [row.country, row]));
  assert.ok(totals.length > last.size, "updates");
  assert.deepEqual(sorted([...last.values()]), sorted(expected));

  const dayOf = ({ placedAt }: Order) =>
    `${new Date(Date.parse(placedAt) - 5 * 3_600_000).toISOString().slice(0, 10)}T05:00:00.000Z`;
  const byDay = Map.groupBy(orders, (order) => JSON.stringify([order.country, dayOf(order)]));
  const lastOfDay = new Map(days.map((row) => [JSON.stringify([row.country, row.from]), row]));
  const expectedDays = [...byDay].map(([name, all]) => {
    const [country, from] = JSON.parse(name);
    return { country, from, orders: all.length, largestCents: Math.max(...cents(all)) };
  });
  assert.deepEqual(sorted([...lastOfDay.values()]), sorted(expectedDays));
});

test("orders.ts puts every order into the revenue of its hours, or tells where it went", async () => {
  const sinks = ["out/orders/revenue", "out/orders/late", "out/orders/dead-letters"];
  const [revenue, late, dead] = (await rowsOf("orders.ts", ["--epoch-records", "20"], sinks)) as [
    { country: string; from: string; revenueCents: number; averageCents: number; orders: number }[],
    { windowStart: number; value: Order }[],
    { value: string }[],
  ];
  const lines = sampleLines("orders.jsonl");
  const good = lines.filter((line) => /"totalCents":\d+}$/.test(line)).map((line): Order => JSON.parse(line));
  assert.deepEqual(
    dead.map((row) => row.value).sort(),
    lines.filter((line) => !/"totalCents":\d+}$/.test(line)).sort(),
  );

  const quarter = 15 * 60_000;
  const missed = new Set(late.map(({ windowStart, value }) => JSON.stringify([windowStart, value])));
  const expected = new Map<string, number[]>();
  for (const order of good)
    for (
      let quarters = 0, last = Math.floor(Date.parse(order.placedAt) / quarter) * quarter;
      quarters < 4;
      quarters++
    ) {
      const start = last - quarters * quarter;
      if (missed.delete(JSON.stringify([start, order]))) continue;
      const key = `${order.country} ${new Date(start).toISOString()}`;
      expected.set(key, [...(expected.get(key) ?? []), order.totalCents]);
    }
  assert.ok(late.length > 0);
  assert.equal(missed.size, 0);
  // Of a window that was mended, the last row counts.
  const found = new Map(
    revenue.map((row) => [`${row.country} ${row.from}`, [row.orders, row.revenueCents, row.averageCents]]),
  );
  const figures = ([...cents]: number[]) => {
    const sum = cents.reduce((total, one) => total + one, 0);
    return [cents.length, sum, Math.round(sum / cents.length)];
  };
  assert.deepEqual([...found].sort(), [...expected].map(([key, cents]) => [key, figures(cents)]).sort());
});
