import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { UserCodeError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { json } from "../pipeline/decoders/json.ts";
import { describe } from "../pipeline/describe.ts";
import { fingerprint } from "../pipeline/fingerprint.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { tumbling } from "../pipeline/windows.ts";
import { StateStore } from "../state/state-store.ts";
import { average, collect, count, max, min, sum } from "./aggregates.ts";
import { rowMaker } from "./select.ts";
import { batchOf, runEpoch, TestObjects } from "./test-support.ts";

const sink = (path: string) => files.sink({ path });
type OnError = NonNullable<PipelineOptions["onError"]>;
const policies: readonly OnError[] = ["fail", "skip", deadLetter(sink("rejected"))];

interface Event {
  readonly time: number;
  readonly user: { readonly id: string };
  readonly country: string;
  readonly amounts: readonly number[];
  readonly tags: readonly string[];
  readonly paid: boolean;
}

/** One pipeline in both ways of writing. */
function byPointers(onError: OnError): Topology {
  const events = pipeline("test", { onError }).from(files.source({ path: "in", value: json(), timestamp: "/time" }));
  events.filter("/paid").select({ who: "/user/id", all: "", gone: "/gone" }).to(sink("a"), { id: "selected" });
  events
    .flatMap("/tags" as never)
    .map("" as never)
    .to(sink("b"), { id: "tags" });
  const windowed = events.keyBy("/user/id").window(tumbling(100), { late: sink("late") });
  const rows = windowed.aggregate({
    ...{ n: count(), total: sum("/amounts/0"), least: min("/amounts/0"), most: max("/amounts/0") },
    ...{ mean: average("/amounts/0"), places: collect("/country") },
  });
  rows.select({ total: "/total", word: "/key", first: "/places/0" }).to(sink("c"), { id: "windows" });
  events
    .keyBy(["/user/id", "/country"])
    .aggregate({ last: max("/time") })
    .to(sink("d"), { id: "running" });
  return describe(events);
}

function byFunctions(onError: OnError): Topology {
  const own = (value: unknown, name: string): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
      ? value[name as never]
      : undefined;
  const first = (value: unknown) => (Array.isArray(value) ? value[0] : undefined);
  const id = (event: unknown) => own(own(event, "user"), "id") as string;
  const country = (event: unknown) => own(event, "country") as string;
  const time = (event: unknown) => own(event, "time") as number;
  const amount = (event: unknown) => first(own(event, "amounts")) as number;
  const events = pipeline("test", { onError }).from(files.source({ path: "in", value: json(), timestamp: time }));
  events
    .filter((event) => own(event, "paid") as boolean)
    .map((event) => JSON.parse(JSON.stringify({ who: id(event), all: event, gone: own(event, "gone") })))
    .to(sink("a"), { id: "selected" });
  events
    .flatMap((event) => own(event, "tags") as string[])
    .map((tag) => tag)
    .to(sink("b"), { id: "tags" });
  const windowed = events.keyBy(id).window(tumbling(100), { late: sink("late") });
  const rows = windowed.aggregate({
    ...{ n: count(), total: sum(amount), least: min(amount), most: max(amount) },
    ...{ mean: average(amount), places: collect(country) },
  });
  rows
    .map(({ total, key, places }) => ({ total, word: key, ...(places[0] !== undefined && { first: places[0] }) }))
    .to(sink("c"), { id: "windows" });
  events
    .keyBy((event) => [id(event), country(event)])
    .aggregate({ last: max(time) })
    .to(sink("d"), { id: "running" });
  return describe(events);
}

async function outcome(topology: Topology, values: readonly string[]) {
  const objects = new TestObjects();
  const batches = [batchOf(values.map((value) => ({ value })))];
  const subRanges = [{ partition: "p", batches }];
  try {
    const store = new StateStore(objects);
    const ran = await runEpoch(topology, store, objects, { epoch: 1, subRanges, before: 100, after: 400, chains: [] });
    const rows = Object.entries(ran.rows).map(([id, written]) => [id, written.map((row) => JSON.stringify(row))]);
    return { rows, counts: ran.counts, state: [...objects.objects.values()].map((bytes) => Buffer.from(bytes)) };
  } catch (error) {
    return { error: (error as UserCodeError).describe() };
  }
}

/** What differs between a pointer and a function is the name of what failed. */
const textOf = (given: unknown) =>
  JSON.stringify(given)
    .replaceAll(
      /The function given to (\w+)\(\) must return a finite number, but returned (\w+( value of type \w+)?)/g,
      "$1 $2",
    )
    .replaceAll(/(\w+)\(\\+"[^"]*\\+"\) takes a finite number, but found (\w+( value of type \w+)?)/g, "$1 $2")
    .replaceAll("a value of type undefined", "nothing");

const id = fc.constantFrom<unknown>("a", "b", "é", "", 1, true, null, {}, "\ud800");
const part = fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.jsonValue() });
const event = fc
  .tuple(
    fc.record({
      time: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 350 }) }, fc.constantFrom("x", null, 1e99)),
      user: fc.oneof({ weight: 9, arbitrary: fc.record({ id }) }, fc.constantFrom([], "id", null)),
      country: fc.constantFrom<unknown>("x", "y", 3, { deep: 1 }),
      amounts: fc.oneof(
        { weight: 9, arbitrary: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }) },
        fc.jsonValue(),
      ),
      tags: fc.oneof({ weight: 9, arbitrary: fc.array(fc.string()) }, fc.jsonValue()),
      paid: fc.boolean(),
    }),
    part,
  )
  .map(([whole, other]) => JSON.stringify(other === undefined ? whole : other));

test("pointers do as functions do: rows, late rows, dead letters, counts, state, and errors with their places", async () => {
  for (const onError of policies) {
    assert.deepEqual(fingerprint(byPointers(onError)), fingerprint(byFunctions(onError)));
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (values) => {
        const pointers = await outcome(byPointers(onError), values);
        assert.equal(textOf(pointers), textOf(await outcome(byFunctions(onError), values)));
      }),
      { numRuns: 150 },
    );
  }
});

test("a pointer to nothing is the record's error, with its place, where a key or a number is needed", async () => {
  const one = (value: Partial<Event> | string) => outcome(byPointers("fail"), [JSON.stringify(value)]);
  const whole = { time: 1, user: { id: "u" }, country: "c", amounts: [1], tags: [], paid: true };
  assert.ok("rows" in (await one(whole)));
  const failed = async (value: Partial<Event>, code: string, message: RegExp) => {
    const { error } = await one(value);
    assert.equal(error?.code, code);
    assert.match(error!.message, /^Operator "[a-z0-9-]+" of pipeline "test" failed on the record at offset 0 of "p": /);
    assert.match(error!.message, message);
  };
  await failed({ ...whole, user: {} as never }, "invalid-key", /the key is undefined, but keys are/);
  await failed(
    { ...whole, time: 200, amounts: [] },
    "not-a-number",
    /sum\("\/amounts\/0"\) takes a finite number, but found nothing$/,
  );
  await failed(
    { ...whole, time: undefined as never },
    "invalid-timestamp",
    /the event time is a value of type undefined/,
  );
  await failed({ ...whole, tags: undefined as never }, "not-iterable", /flatMap/);
});

test("a row of select has its fields in order, without those that lead to nothing", () => {
  const fields = { last: "/z", none: "/none", nothing: "/null", first: "/a/0", all: "" };
  const rowOf = rowMaker({ id: "select-1", kind: "select", input: "source-1", fields });
  const value = { a: [1], z: { y: 2 }, null: null };
  assert.deepEqual(Object.entries(rowOf(value) as object), [
    ["last", value.z],
    ["nothing", null],
    ["first", 1],
    ["all", value],
  ]);
  assert.deepEqual(rowOf(5), { all: 5 });
  assert.deepEqual(rowOf(undefined), {});
});
