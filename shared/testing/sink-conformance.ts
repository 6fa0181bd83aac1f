import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ColumnRows, TextRows } from "../ports/columns.ts";
import { abandoning } from "./sink-abandoning.ts";
import { publishing } from "./sink-publishing.ts";
import { refusals } from "./sink-refusals.ts";
import {
  ableTo,
  type Check,
  decided,
  owner,
  perform,
  performEpoch,
  publish,
  SinkEpoch,
  type SinkUnderTest,
  sees,
  where,
} from "./sink-scenario.ts";

export type { SinkUnderTest } from "./sink-scenario.ts";

/**
 * What every `TwoPhaseCommitSink` must do (protocol §9), as tests of `node:test`: rows reach readers once, all of a unit or none, whatever process dies
 * between whichever two calls, and whatever is called twice, too late, by a zombie, or given up.
 *
 * @param make an empty target; called once a test
 */
export function sinkConformance<T>(name: string, make: () => Promise<SinkUnderTest<T>>): void {
  const check: Check<T> = (title, body, needs) =>
    test(title, async (context) => {
      const target = await make();
      try {
        if (needs?.isThere(target as SinkUnderTest<never>) === false) context.skip(`the sink has no ${needs.what}`);
        else await body(target);
      } finally {
        await target.close();
      }
    });
  suite(`Sink: ${name}`, () => {
    epochs(check);
    deaths(check);
    zombies(check);
    abandoning(where(check, ableTo("abandon")));
    refusals(check);
    sweeping(check);
    publishing(where(check, ableTo("publish")));
  });
}

function epochs<T>(check: Check<T>): void {
  check("rows of committed epochs are seen, each once", async (target) => {
    const done = [];
    for (const number of [1, 2, 5]) done.push(await performEpoch(target, number));
    await sees(target, ...done);
  });
  check("nothing is seen before the commit", async (target) => {
    await decided(target);
    await sees(target);
  });
  check("transactions of one process may be open side by side, and one of them be given up", async (target) => {
    const sink = target.open();
    await sink.open(owner);
    const context = { ...owner, epoch: 1, attempt: 1, stage: 0, nonce: "nonce1" };
    const given = await sink.begin({ ...context, task: 0 });
    const kept = await sink.begin({ ...context, task: 1 });
    for (const number of [1, 2, 3]) {
      given.write([target.row(number)]);
      kept.write([target.row(10 + number)]);
    }
    await given.discard?.();
    await publish(sink, { stage: 0, task: 1, handle: (await sink.preCommit(kept))! });
    await sees(target, { rows: [11, 12, 13].map((number) => target.row(number)) });
  });
  check("rows in columns are seen as rows, in their order among others", async (target) => {
    const sink = target.open();
    await sink.open(owner);
    const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
    const rows = [1, 2, 3, 4].map((number) => target.row(number));
    transaction.write(rows.slice(0, 1));
    const inColumns = columnsOf(rows.slice(1, 3));
    // The engine has columns of objects alone.
    if (transaction.writeColumns && typeof rows[0] === "object") transaction.writeColumns(inColumns);
    else if (transaction.writeTexts && typeof rows[0] === "string") transaction.writeTexts(textsOf(inColumns));
    else transaction.write(inColumns.rows());
    transaction.write(rows.slice(3));
    await publish(sink, { stage: 0, task: 0, handle: (await sink.preCommit(transaction))! });
    await sees(target, { rows });
  });
  check("a task without rows prepares nothing", async (target) => {
    const sink = target.open();
    await sink.open(owner);
    const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
    transaction.write([]);
    await transaction.drained();
    assert.equal(await sink.preCommit(transaction), undefined);
  });
  check("a transaction that is given up leaves nothing", async (target) => {
    const sink = target.open();
    await sink.open(owner);
    const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" });
    transaction.write([target.row(1)]);
    await transaction.discard?.();
    await transaction.discard?.();
    await sees(target);
    assert.equal((await sink.sweep?.(owner, () => true)) ?? 0, 0);
  });
}

function deaths<T>(check: Check<T>): void {
  check("a process may die before the decision, after each call", async (target) => {
    const length = new SinkEpoch(target, 1).prepare(target.open(), 1).length;
    const done: SinkEpoch<T>[] = [];
    for (let calls = 0; calls <= length; calls += 1) {
      const epoch = new SinkEpoch(target, calls + 1);
      await perform(epoch.prepare(target.open(), 1).slice(0, calls));
      const sink = target.open();
      await epoch.abort(sink);
      await perform(epoch.prepare(sink, 2));
      epoch.decide(sink);
      await perform(epoch.complete(sink));
      done.push(epoch);
      await sees(target, ...done);
    }
  });
  check("a process may die after the decision, after each call", async (target) => {
    const done: SinkEpoch<T>[] = [];
    for (let calls = 0; ; calls += 1) {
      const epoch = await decided(target, 2 * calls + 2);
      const steps = epoch.complete(target.open());
      await perform(steps.slice(0, calls));
      await perform(epoch.complete(target.open()));
      done.push(epoch);
      await sees(target, ...done);
      if (calls === steps.length) return;
    }
  });
  check("each call after the decision may come twice", async (target) => {
    const epoch = await decided(target);
    await perform(epoch.complete(target.open()), 2);
    await perform(epoch.complete(target.open()), 2);
    await sees(target, epoch);
  });
  check("an abort may come twice, and before anything was prepared", async (target) => {
    const epoch = new SinkEpoch(target, 2);
    await epoch.abort(target.open());
    await perform(epoch.prepare(target.open(), 1));
    const handles = epoch.handles;
    await epoch.abort(target.open());
    for (const handle of handles) await target.open().abort(handle as never);
    await sees(target);
    assert.equal((await target.open().sweep?.(owner, () => true)) ?? 0, 0, "nothing is left to sweep");
  });
}

function zombies<T>(check: Check<T>): void {
  check("a zombie may go on before the decision, after each call", async (target) => {
    const length = new SinkEpoch(target, 1).prepare(target.open(), 1).length;
    const done: SinkEpoch<T>[] = [];
    for (let calls = 0; calls <= length; calls += 1) {
      const number = calls + 1;
      const fenced = new SinkEpoch(target, number);
      const steps = fenced.prepare(target.open(), 1);
      await perform(steps.slice(0, calls));
      await fenced.abort(target.open());
      const epoch = await decided(target, number, 2);
      await perform(epoch.complete(target.open()));
      done.push(epoch);
      // It may fail, in whatever way: its attempt is over.
      await perform(steps.slice(calls)).catch(() => {});
      await sees(target, ...done);
    }
    await target.open().sweep?.(owner, () => true);
    await sees(target, ...done);
  });
  check("a zombie may complete an epoch long after others did", async (target) => {
    const done: SinkEpoch<T>[] = [];
    for (let calls = 0; ; calls += 1) {
      const epoch = await decided(target, 4 * calls + 2);
      const steps = epoch.complete(target.open());
      await perform(steps.slice(0, calls));
      await perform(epoch.complete(target.open()));
      const later = await decided(target, 4 * calls + 4);
      await perform(later.complete(target.open()));
      await perform(steps.slice(calls));
      done.push(epoch, later);
      await sees(target, ...done);
      if (calls === steps.length) return;
    }
  });
  check("two processes may complete an epoch at the same time", async (target) => {
    const done: SinkEpoch<T>[] = [];
    for (let round = 0; round < 20; round += 1) {
      const epoch = await decided(target, 2 * round + 2);
      const sinks = [target.open(), target.open(), target.open()];
      await Promise.all(sinks.map((sink) => perform(epoch.complete(sink))));
      done.push(epoch);
    }
    await sees(target, ...done);
  });
}

function sweeping<T>(check: Check<T>): void {
  check("a sweep deletes what fenced attempts have staged, and nothing else", async (target) => {
    const fenced = new SinkEpoch(target, 2);
    await perform(fenced.prepare(target.open(), 1));
    const epoch = await decided(target, 2, 2);
    const sink = target.open();
    await sink.sweep?.({ ...owner, uid: "ledger-2" }, () => true);
    await sink.sweep?.(owner, ({ epoch: number, attempt }) => number < 2 || attempt < 2);
    assert.equal((await sink.sweep?.(owner, ({ attempt }) => attempt < 2)) ?? 0, 0);
    await perform(epoch.complete(target.open()));
    await sees(target, epoch);
  });
}

/** Rows of the same fields. */
function columnsOf<T>(rows: T[]): ColumnRows<T> {
  const names = Object.keys(Object(rows[0]));
  const fields = names.map((name) => ({ name, column: rows.map((row) => row[name as keyof T]) }));
  return { length: rows.length, fields, times: new Float64Array(rows.length).fill(Date.now()), rows: () => rows };
}

function textsOf({ length, times, rows }: ColumnRows): TextRows {
  const texts = rows() as string[];
  const ends = Int32Array.from(texts, (_, index) => Buffer.byteLength(texts.slice(0, index + 1).join("")));
  const starts = Int32Array.from(texts, (text, index) => ends[index]! - Buffer.byteLength(text));
  return { length, bytes: Buffer.from(texts.join("")), starts, ends, times, rows: () => texts.slice() };
}
