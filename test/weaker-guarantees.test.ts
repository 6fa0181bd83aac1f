/** What the weaker guarantees do where a call fails or comes twice, on the real runner with real files: nothing is left to chance here. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RunOptions, RunResult } from "../local/options.ts";
import { runWith } from "../local/run.ts";
import type { Internals } from "../local/session.ts";
import { readRows } from "../shared/adapters/filesystem/reader.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { InfrastructureError } from "../shared/errors.ts";
import { count, files, pipeline, tumbling } from "../shared/index.ts";
import type { Guarantee } from "../shared/pipeline/topology.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import { temporaryFolder } from "./support/folder.ts";
import { readEpochs } from "./support/inspect.ts";

const broken = () => new InfrastructureError("broken", "it breaks, on purpose");
const words = ["a", "b", "c", "d", "e", "f"];

/** Of two files, `words` in turn, in windows of ten. */
class Place implements Disposable {
  readonly #folder = temporaryFolder();
  readonly state = join(this.#folder.path, "state");
  readonly #input = join(this.#folder.path, "in");
  readonly #output = join(this.#folder.path, "out");

  constructor() {
    mkdirSync(this.#input);
    for (const file of ["one", "two"]) {
      const lines = Array.from({ length: 60 }, (_, index) => `${index} ${words[index % words.length]}\n`);
      writeFileSync(join(this.#input, file), lines.join(""));
    }
  }

  async run(guarantee: Guarantee, internals: Internals = {}, options: RunOptions = {}): Promise<RunResult> {
    const definition = pipeline("words", { guarantee })
      .from(files.source({ path: this.#input, value: (line) => line.split(" "), timestamp: ([time]) => Number(time) }))
      .keyBy(([, word]) => word!)
      .window(tumbling(10))
      .aggregate({ count: count() })
      .map(({ key, windowStart, count }) => `${windowStart} ${key} ${count}`)
      .to(files.sink({ path: this.#output }), { id: "counts" });
    return await runWith(
      definition,
      { state: this.state, epochRecords: 40, parallelism: 2, patienceMs: 20_000, ...options },
      internals,
    );
  }

  async rows(): Promise<string[]> {
    return (await Array.fromAsync(readRows(this.#output))).map((row) => JSON.parse(row) as string).sort();
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

const expected = [0, 10, 20, 30, 40, 50]
  .flatMap((start) =>
    words.flatMap((word, at) => {
      const times = Array.from({ length: 10 }, (_, index) => start + index).filter(
        (time) => time % words.length === at,
      );
      return times.length > 0 ? [`${start} ${word} ${2 * times.length}`] : [];
    }),
  )
  .sort();

/** Fails the n-th call of a verb, before it or after its effect. */
function failingLedger(verb: "ack" | "decide", nth: number, when: "before" | "after"): Internals {
  let calls = 0;
  const wrap = (ledger: Ledger): Ledger => {
    const call = ledger[verb] as (...given: unknown[]) => Promise<unknown>;
    const failing = async (...given: unknown[]) => {
      const isTheOne = ++calls === nth;
      if (isTheOne && when === "before") throw broken();
      const answer = await call(...given);
      if (isTheOne) throw broken();
      return answer;
    };
    return { ...ledger, [verb]: failing } as Ledger;
  };
  return { engine: (engine: Engine) => ({ ...engine, ledger: wrap(engine.ledger) }) };
}

/** Sinks of which some methods are others. */
function withSink(methods: Partial<Record<keyof TwoPhaseCommitSink, unknown>>): Internals {
  const wrap = (sink: TwoPhaseCommitSink): TwoPhaseCommitSink =>
    new Proxy(sink, {
      get: (_, member) => {
        if (Object.hasOwn(methods, member)) return methods[member as keyof TwoPhaseCommitSink];
        const value = Reflect.get(sink, member);
        return typeof value === "function" ? value.bind(sink) : value;
      },
    });
  return { engine: (engine: Engine) => ({ ...engine, sink: (id) => wrap(engine.sink(id)) }) };
}

/** Has the n-th publication fail, before it or after its effect. */
function failingSink(nth: number, when: "before" | "after"): Internals {
  let calls = 0;
  return {
    engine: (engine: Engine) =>
      withSink({
        publish: async (transaction: never) => {
          const isTheOne = ++calls === nth;
          if (isTheOne && when === "before") throw broken();
          await engine.sink("counts").publish!(transaction);
          if (isTheOne) throw broken();
        },
      }).engine!(engine),
  };
}

for (const guarantee of ["exactly-once", "at-least-once", "at-most-once"] as const)
  test(`${guarantee}: where nothing fails, each result is there once`, async () => {
    using place = new Place();
    const { outcome, progress, lost } = await place.run(guarantee);
    assert.deepEqual([outcome, progress.committed, lost], ["done", progress.decided, undefined]);
    assert.deepEqual(await place.rows(), expected);
    assert.equal((await place.run(guarantee)).outcome, "nothing-new");
  });

test("at-least-once: rows whose ack is lost come again, and no window counts a record twice", async () => {
  using place = new Place();
  const { outcome } = await place.run("at-least-once", failingLedger("ack", 2, "before"));
  assert.equal(outcome, "done");
  const rows = await place.rows();
  assert.deepEqual([...new Set(rows)], [...new Set(expected)]);
  assert.ok(rows.length > expected.length, "nothing came twice: the test tests nothing");
});

test("at-most-once: rows that fail are not written again, and counted, though they may be there", async () => {
  for (const when of ["before", "after"] as const) {
    using place = new Place();
    const { outcome, lost } = await place.run("at-most-once", failingSink(2, when));
    assert.equal(outcome, "done");
    const rows = await place.rows();
    assert.deepEqual(
      rows.filter((row) => !expected.includes(row)),
      [],
    );
    assert.equal(lost?.epochs, 1);
    assert.equal(rows.length, when === "before" ? expected.length - lost.rows : expected.length);
    const failed = (await readEpochs(place.state)).find((row) => row.status === "decided" && row.decision.loss);
    assert.equal(failed?.failure?.error.code, "broken", "`epochs` says why");
  }
});

test("at-most-once: a claim whose answer is lost is asked for again, and writes its rows once", async () => {
  for (const when of ["before", "after"] as const) {
    using place = new Place();
    const { outcome, lost } = await place.run("at-most-once", failingLedger("ack", 2, when));
    assert.deepEqual([outcome, lost], ["done", undefined]);
    assert.deepEqual(await place.rows(), expected);
  }
});

test("at-most-once: a task that comes twice writes its rows once", async () => {
  using place = new Place();
  const twice: Internals = {
    handlers: (handlers) => ({
      ...handlers,
      Operate: async (name: never) => {
        const [answer] = await Promise.all([handlers.Operate!(name), handlers.Operate!(name)]);
        await handlers.Operate!(name);
        return answer;
      },
    }),
  };
  const { lost } = await place.run("at-most-once", twice);
  assert.equal(lost, undefined);
  assert.deepEqual(await place.rows(), expected);
});

test("at-most-once: an epoch that fails when some tasks have claimed their rows keeps these, and loses the others' share", async () => {
  using place = new Place();
  const one: Internals = {
    chooseTasks: (_, stages) => Array(stages).fill(2),
    handlers: (handlers) => ({
      ...handlers,
      Operate: async (name: { epoch: number; stage: number; task: number }) => {
        if (name.epoch === 2 && name.stage === 1 && name.task === 0) throw broken();
        return await handlers.Operate!(name as never);
      },
    }),
  };
  const { outcome, lost } = await place.run("at-most-once", one);
  assert.equal(outcome, "done");
  assert.deepEqual([lost?.epochs, lost?.shares, lost?.rows], [1, 1, 0]);
  const rows = await place.rows();
  const windowOf = (row: string) => row.split(" ").slice(0, 2).join(" ");
  assert.equal(new Set(rows.map(windowOf)).size, rows.length, "a window shows twice");
  const total = (all: readonly string[]) => all.reduce((sum, row) => sum + Number(row.split(" ")[2]), 0);
  assert.ok(total(rows) < total(expected) && total(rows) > total(expected) - 40, "more is lost than the share");
});

test("the guarantee may change at any time: what was decided under exactly-once is committed first", async () => {
  using place = new Place();
  const uncommitted = withSink({
    commit: async () => {
      throw broken();
    },
  });
  const first = await place.run("exactly-once", uncommitted, { patienceMs: 0, attempts: 1 });
  assert.deepEqual([first.outcome, first.progress.committed], ["failed", 0]);
  assert.equal((await place.run("at-least-once")).outcome, "done");
  assert.deepEqual(await place.rows(), expected);
  const guarantees = (await readEpochs(place.state)).map(({ attemptPlan }) => attemptPlan.guarantee);
  assert.equal(guarantees[0], undefined);
  assert.equal(guarantees.at(-1), "at-least-once");
});

test("a sink that writes in two phases only is refused before anything is read", async () => {
  using place = new Place();
  const strict = withSink({ publish: undefined });
  const { outcome, error } = await place.run("at-most-once", strict, { patienceMs: 0 });
  assert.deepEqual([outcome, error?.code], ["failed", "sink-exactly-once"]);
  assert.match(error!.message, /sink counts of pipeline words cannot write at-most-once/);
});
