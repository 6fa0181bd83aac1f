import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../shared/epoch/engine.ts";
import { LossError } from "../shared/errors.ts";
import { files, pipeline, text } from "../shared/index.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import { copyOf } from "../test/support/ports.ts";
import { runWith } from "./run.ts";

const lost = () => new LossError("target-gone", "the target is gone");

/** Four lines, two an epoch, to the sinks `kept` and `other`; `change` stands before the sinks. */
function place(folder: string, change: (sink: TwoPhaseCommitSink, id: string, engine: Engine) => TwoPhaseCommitSink) {
  const input = join(folder, "input");
  writeFileSync(input, "a\nb\nc\nd\n");
  const lines = pipeline("session").from(files.source({ path: input, value: text() }));
  lines.to(files.sink({ path: join(folder, "kept") }), { id: "kept" });
  lines.filter((line) => line > "b").to(files.sink({ path: join(folder, "other") }), { id: "other" });
  const engine = (given: Engine): Engine => ({ ...given, sink: (id) => change(given.sink(id), id, given) });
  return () => runWith(lines, { state: join(folder, "state"), epochRecords: 2 }, { engine });
}

/** The sink, with some of its methods replaced. */
const replaced = (sink: TwoPhaseCommitSink, methods: Partial<TwoPhaseCommitSink>): TwoPhaseCommitSink =>
  new Proxy(sink, {
    get(target, name: keyof TwoPhaseCommitSink) {
      const method = methods[name] ?? target[name];
      return typeof method === "function" ? method.bind(target as never) : method;
    },
  });

test("a loss at a commit stops a pipeline that was paused meanwhile (I8), and is not tried for ever", async () => {
  using folder = temporaryFolder();
  let commits = 0;
  const run = place(folder.path, (sink, _, engine) =>
    replaced(sink, {
      commit: async () => {
        if (++commits > 20) return await new Promise(() => {});
        await engine.ledger.setStatus("paused");
        throw lost();
      },
    }),
  );
  const { outcome, error } = await run();
  assert.deepEqual([outcome, error?.code, commits], ["stopped", "target-gone", 1]);
});

test("what is decided is committed before the loss of another sink stops the pipeline (I4)", async () => {
  using folder = temporaryFolder();
  let isLost = false;
  const run = place(folder.path, (sink, id) =>
    replaced(sink, {
      open: async (owner) => {
        if (isLost && id === "other") throw lost();
        await sink.open(owner);
      },
      // Epoch 1 is decided, has output for `kept` alone, and is not committed when `other` is lost.
      preCommit: async (transaction) => {
        const prepared = await sink.preCommit(transaction);
        isLost = true;
        return prepared;
      },
    }),
  );
  const { outcome, progress } = await run();
  assert.deepEqual([outcome, progress.decided, progress.committed], ["stopped", 1, 1]);
});

test("an idle run that follows its input is told when there is more, and does not look again and again", async () => {
  using folder = temporaryFolder();
  const input = join(folder.path, "input");
  writeFileSync(input, "a\n");
  const lines = pipeline("told").from(files.source({ path: input, value: text() }));
  lines.to(files.sink({ path: join(folder.path, "out") }), { id: "out" });
  const stop = new AbortController();
  let looks = 0;
  const waits: { looks: number; position: number }[] = [];
  const engine = (given: Engine): Engine => ({
    ...given,
    source: {
      ...copyOf(given.source),
      discover: async (known) => {
        looks++;
        return await given.source.discover(known);
      },
      awaitMore: async (signal) => {
        assert.equal(signal.aborted, false);
        waits.push({ looks, position: (await given.ledger.head())?.decided ?? 0 });
        if (waits.length === 2) stop.abort();
        // So long as nobody looks by himself there are no looks in between.
        await sleep(300);
        if (waits.length === 1) appendFileSync(input, "b\n");
      },
    },
  });
  const options = { state: join(folder.path, "state"), follow: true, epochIntervalMs: 20, signal: stop.signal };
  const { outcome, progress } = await runWith(lines, options, { engine });
  assert.deepEqual([outcome, progress.records, waits.map(({ position }) => position)], ["interrupted", 2, [1, 2]]);
  assert.ok(looks - waits[0]!.looks < 10, `${looks} looks`);
});
