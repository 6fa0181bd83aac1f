import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserCodeError } from "../errors.ts";
import { toJsonText } from "../json-text.ts";
import { files } from "../pipeline/connectors/files.ts";
import { json } from "../pipeline/decoders/json.ts";
import { describe } from "../pipeline/describe.ts";
import { deadLetter, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { tumbling } from "../pipeline/windows.ts";
import type { ColumnRows } from "../ports/columns.ts";
import type { RefusedRow, TimeOfRow } from "../ports/sink.ts";
import { StageState } from "../state/stage-state.ts";
import { aggregate, collect, count, sum } from "./aggregates.ts";
import { valuesOf } from "./column-rows.ts";
import type { StageEnvironment } from "./environment.ts";
import { KeyedStage } from "./keyed-stage.ts";
import { SourceStage } from "./source-stage.ts";
import { batchOf } from "./test-support.ts";

/* Rows that stay columns are the rows that they would be as objects, with the same times, failures and counts. */

interface Value {
  readonly key: string | number | boolean;
  readonly time: number;
  readonly n: number;
}

const rejected = deadLetter(files.sink({ path: "rejected" }));

function keyed() {
  return pipeline("test", { keyGroups: 3, onError: rejected })
    .from(files.source({ path: "in", value: json(), timestamp: (value) => (value as Value).time }))
    .map((value) => value as Value)
    .keyBy(({ key }) => (key === "tuple" ? [key, 1n] : key));
}

const sink = files.sink({ path: "out" });
const counted = () =>
  keyed()
    .window(tumbling(10), { allowedLateness: 20 })
    .aggregate({ n: sum("/n"), 2: count() });
const throws = aggregate<Value, number, unknown>({
  init: () => 0,
  add: (total, { n }) => total + n,
  merge: (one, other) => one + other,
  result: (total) => {
    if (total % 7 === 3) throw new Error("seven and three");
    return total % 5 === 0 ? undefined : { total };
  },
});

const topologies: Record<string, Topology> = {
  select: describe(
    counted()
      .select({ word: "/key", b: "/windowEnd", 7: "/windowStart", total: "/n", 1: "/2" })
      .to(sink, { id: "out" }),
  ),
  "select twice": describe(
    counted().select({ a: "/key", b: "/n" }).select({ c: "/b", d: "/a" }).to(sink, { id: "out" }),
  ),
  "no select": describe(counted().to(sink, { id: "out" })),
  "two sinks": (() => {
    const rows = counted();
    rows.select({ a: "/key" }).to(sink, { id: "one" });
    return describe(rows.to(files.sink({ path: "other" }), { id: "two" }));
  })(),
  "a map beside it": (() => {
    const rows = counted();
    rows.map(({ key }) => ({ key })).to(sink, { id: "one" });
    return describe(rows.select({ a: "/key" }).to(files.sink({ path: "other" }), { id: "two" }));
  })(),
  "a deeper pointer": describe(
    counted()
      .select({ first: "/key/0" as never })
      .to(sink, { id: "out" }),
  ),
  "results of functions": describe(
    keyed()
      .window(tumbling(10))
      .aggregate({ t: throws, all: collect("/n") })
      .select({ k: "/key", t: "/t", all: "/all" })
      .to(sink, { id: "out" }),
  ),
  running: describe(
    keyed().aggregate({ n: count(), t: throws }).select({ n: "/n", k: "/key" }).to(sink, { id: "out" }),
  ),
};

const value = fc.record<Value>({
  key: fc.oneof(
    fc.constantFrom("a", "b", "é", '"\n', "tuple"),
    fc.string({ maxLength: 3 }).map((text) => text.toWellFormed()),
    fc.integer(),
    fc.boolean(),
  ),
  time: fc.integer({ min: 0, max: 60 }),
  n: fc.integer({ min: 0, max: 20 }),
});
const epochs = fc.array(
  fc.record({ values: fc.array(value, { maxLength: 40 }), step: fc.integer({ min: 0, max: 30 }) }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

/** Everything that comes out, in order. */
function run(topology: Topology, list: readonly { values: Value[]; step: number }[], asColumns: boolean) {
  const out: unknown[] = [];
  let wereColumns = 0;
  const take = (sink: string, rows: readonly unknown[], timeOf: TimeOfRow, refused?: RefusedRow) => {
    for (const [index, row] of rows.entries()) {
      const text = toJsonText(row)!;
      if (refused !== undefined && text.length % 11 === 0) refused(index, new UserCodeError("bad-row", `no ${sink}`));
      else out.push([sink, text, timeOf(index)]);
    }
  };
  const takeColumns = (sink: string, columns: ColumnRows, refused?: RefusedRow) => {
    wereColumns += columns.length;
    const made = columns.fields.map(({ name, column }) => [name, valuesOf(column, columns.length)] as const);
    const rows = Array.from({ length: columns.length }, (_, row) =>
      Object.fromEntries(made.map(([name, values]) => [name, values[row]])),
    );
    assert.deepEqual(rows.map(toJsonText), columns.rows().map(toJsonText));
    take(sink, rows, (row) => columns.times[row]!, refused);
  };
  const state = new StageState("test", topology, 1, { from: 0, to: 3 });
  let watermark: number | null = null;
  for (const { values, step } of list) {
    const environment: StageEnvironment = {
      topology,
      watermark,
      processingTime: 0,
      write: take,
      ...(asColumns && { writeColumns: takeColumns }),
      running: (operator, partition) => {
        if (partition === "") out.push(operator);
      },
    };
    const source = new SourceStage(environment);
    const stage = new KeyedStage(environment, 1, state);
    source.begin("p");
    source.process(batchOf(values.map((one) => ({ value: JSON.stringify(one) }))));
    stage.merge(source.end());
    watermark = (watermark ?? 0) + step;
    for (const _ of stage.fire(watermark));
    state.markSaved();
    out.push(stage.counts);
  }
  return { out, wereColumns };
}

for (const [name, topology] of Object.entries(topologies))
  test(name, () => {
    let columns = 0;
    fc.assert(
      fc.property(epochs, (list) => {
        const given = run(topology, list, true);
        columns += given.wereColumns;
        assert.deepEqual(given.out, run(topology, list, false).out);
      }),
      { numRuns: 60 },
    );
    assert.equal(columns > 0, name !== "a map beside it" && name !== "a deeper pointer");
  });
