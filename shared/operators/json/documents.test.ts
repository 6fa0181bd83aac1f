import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { UserCodeError } from "../../errors.ts";
import { files } from "../../pipeline/connectors/files.ts";
import { json } from "../../pipeline/decoders/json.ts";
import { describe } from "../../pipeline/describe.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../../pipeline/pipeline.ts";
import type { Decoder, SourceNode, Topology } from "../../pipeline/topology.ts";
import { tumbling } from "../../pipeline/windows.ts";
import { StateStore } from "../../state/state-store.ts";
import { type Aggregate, average, collect, count, max, min, sum } from "../aggregates.ts";
import { batchOf, runEpoch, TestObjects } from "../test-support.ts";
import { pointersAsked } from "./asked.ts";
import { damagedDocument, document } from "./test-documents.ts";

const sink = (path: string) => files.sink({ path });
type OnError = NonNullable<PipelineOptions["onError"]>;

/** The engine does not know this decoder: it decodes. */
const plain: Decoder<unknown> = { name: "json", decode: (bytes, start, end) => json().decode(bytes, start, end) };

/** A pipeline that asks for fields alone. Without `large`, no accumulator is larger than a number. */
function makeTopology(value: Decoder<unknown>, onError: OnError, large: boolean): Topology {
  const events = pipeline("test", { onError, keyGroups: 4 }).from(
    files.source({ path: "in", value, timestamp: "/time" }),
  );
  events.select({ who: "/a", inner: "/a/b", gone: "/none", second: "/0" }).to(sink("s"), { id: "selected" });
  events.flatMap("/list" as never).to(sink("t"), { id: "items" });
  events.map("/other").to(sink("u"), { id: "others" });
  const numbers = { n: count(), total: sum("/amount"), least: min("/amount"), most: max("/amount") };
  const windowed = events.keyBy("/a").window(tumbling(100), { late: sink("late") });
  const data: Record<string, Aggregate<unknown, unknown, unknown>> = { mean: average("/amount"), all: collect("/b") };
  windowed.aggregate({ ...numbers, ...(large && data) }).to(sink("v"));
  events
    .keyBy(["/a", "/amount"])
    .aggregate({ last: max("/time"), n: count() }, { expireAfter: 50 })
    .to(sink("w"));
  return describe(events);
}

const asked = (topology: Topology) => pointersAsked(topology, topology.nodes[0] as SourceNode);

interface Given {
  readonly partitions: readonly (readonly (Uint8Array | null)[])[];
  readonly batch: number;
  readonly tasks: number;
}

async function outcome(topology: Topology, { partitions, batch, tasks }: Given) {
  const objects = new TestObjects();
  const subRanges = partitions.map((values, partition) => ({
    partition: `p${partition}`,
    batches: Array.from({ length: Math.ceil(values.length / batch) }, (_, at) =>
      batchOf(
        values.slice(at * batch, (at + 1) * batch).map((value) => ({ value })),
        at * batch * 10,
      ),
    ),
  }));
  try {
    const store = new StateStore(objects);
    const shares = { source: Math.min(tasks, Math.max(1, partitions.length)), keyed: tasks };
    const epoch = { epoch: 1, subRanges, before: 100, after: 400, chains: [], tasks: shares };
    const { rows, counts, open } = await runEpoch(topology, store, objects, epoch);
    return { rows, counts, open, state: [...objects.objects] };
  } catch (error) {
    assert.ok(typeof (error as UserCodeError).describe === "function", String(error));
    return { error: (error as UserCodeError).describe() };
  }
}

const rarely = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 15) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
const texts = fc.constantFrom('"x"', '"y"', '"é😀"', '""', '"\\u0078"', '"\\n"');
const documentText = document.map(String);
const numbers = fc.oneof(fc.integer().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
/** What an event is like that nothing is wrong with, mostly. */
const event = fc
  .record({
    time: rarely(fc.integer({ min: 0, max: 350 }).map(String), fc.constantFrom('"1"', "1e99", "-0", "10.7")),
    a: rarely(texts, fc.oneof(documentText, fc.constantFrom("7", '"\\ud800"', '{"b":5}')), 8),
    amount: rarely(numbers, fc.oneof(fc.constantFrom('"1"', "null", "1e999", "[]"), documentText), 20),
    list: rarely(fc.constantFrom("[]", "[1,[2]]"), documentText, 20),
    b: rarely(fc.constantFrom("1", "[1,2]"), documentText),
  })
  .map((members) => Object.entries(members).map(([name, value]) => `"${name}":${value}`))
  .chain((members) =>
    fc.tuple(
      fc.shuffledSubarray(members, { minLength: members.length }),
      rarely(fc.constant(""), fc.constantFrom(',"a":"x"', ',"\\u0061":1', "x")),
    ),
  )
  .map(([members, rest]) => Buffer.from(`{${members.join(",")}${rest}}`));
const values = rarely<Uint8Array | null>(
  event,
  fc.oneof<fc.Arbitrary<Uint8Array | null>[]>(document, damagedDocument, fc.constant(null)),
  30,
);
const given = fc.record<Given>({
  partitions: fc.array(fc.array(values, { maxLength: 12 }), { maxLength: 3 }),
  batch: fc.integer({ min: 1, max: 12 }),
  tasks: fc.integer({ min: 1, max: 3 }),
});

for (const [name, onError, large] of [
  ["fail", "fail", true],
  ["skip", "skip", false],
  ["deadLetter", deadLetter(sink("rejected")), false],
] as const)
  test(`fields of bytes are those of decoded values, onError ${name}: rows, late and dead letters, counts, state, errors`, async () => {
    const fast = makeTopology(json(), onError, large);
    assert.ok(asked(fast) !== undefined);
    let succeeded = 0;
    await fc.assert(
      fc.asyncProperty(given, async (input) => {
        const expected = await outcome(makeTopology(plain, onError, large), input);
        assert.deepEqual(await outcome(fast, input), expected);
        if ("rows" in expected) succeeded++;
      }),
      { numRuns: 300 },
    );
    assert.ok(succeeded > 10, `only ${succeeded} of 300 were without an error`);
  });

test("documents are decoded where something asks for more than fields", () => {
  const events = (onError: OnError = "fail") =>
    pipeline("test", { onError }).from(files.source({ path: "in", value: json() }));
  const pointers = (make: (stream: ReturnType<typeof events>) => unknown, onError?: OnError) => {
    const stream = events(onError);
    make(stream);
    return asked(describe(stream));
  };
  const keyed = (aggregates: Record<string, never>) => (stream: ReturnType<typeof events>) =>
    stream.keyBy("/a").aggregate(aggregates).to(sink("out"));
  assert.deepEqual(pointers(keyed({ n: count(), total: sum("/x"), all: collect("/a") } as never)), ["/a", "/x"]);
  assert.deepEqual(
    pointers((stream) => stream.select({ a: "/a", b: "/b/0" }).to(sink("out"))),
    ["/a", "/b/0"],
  );
  for (const make of [
    keyed({ all: collect() } as never),
    keyed({ total: sum((value: { x: number }) => value.x) } as never),
    keyed({ total: { ...sum("/x"), add: (total: number) => total } } as never),
    (stream: ReturnType<typeof events>) =>
      stream
        .keyBy((value) => String(value))
        .aggregate({ n: count() })
        .to(sink("out")),
    (stream: ReturnType<typeof events>) => stream.filter("/a").to(sink("out")),
    (stream: ReturnType<typeof events>) => stream.select({ whole: "" }).to(sink("out")),
    (stream: ReturnType<typeof events>) => stream.select({ a: "/a" }).to(sink("out")) && stream.to(sink("out")),
  ])
    assert.equal(pointers(make as never), undefined);
  assert.equal(pointers(keyed({ mean: average("/x") } as never), "skip"), undefined);
  const timed = (timestamp: unknown) =>
    pipeline("test").from(files.source({ path: "in", value: json(), timestamp: timestamp as "/at" }));
  assert.deepEqual(asked(describe(timed("/at").select({ a: "/a" }).to(sink("out")))), ["/at", "/a"]);
  assert.equal(
    asked(
      describe(
        timed(() => 1)
          .select({ a: "/a" })
          .to(sink("out")),
      ),
    ),
    undefined,
  );
});
