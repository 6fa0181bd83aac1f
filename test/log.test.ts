/** What a run tells in its log: by the program, and to a logger of one's own. */
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { describe, it } from "node:test";
import { pino } from "pino";
import { run, runWith } from "../local/run.ts";
import { type Log, type LogFields, logLevels } from "../local/watch/log.ts";
import { InfrastructureError } from "../shared/errors.ts";
import { type Around, around } from "./support/ports.ts";
import { assertEnded, Place, words } from "./support/words.ts";

type Line = LogFields & { readonly level: string; readonly time: string; readonly message: string };

const linesOf = (stderr: string) =>
  stderr
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
const eventsOf = (lines: readonly Line[]) => lines.map(({ event }) => event);

/** Keeps what it is told. */
function recorder() {
  const lines: Line[] = [];
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ time: "", level, message, ...fields });
  const log = Object.fromEntries(logLevels.map((level) => [level, at(level)])) as unknown as Log;
  return { lines, log };
}

/** Fails calls of a method, the first ones. */
function failing(method: string, times: number): Around {
  let left = times;
  return (name, call) =>
    name === method && left-- > 0
      ? (Promise.reject(new InfrastructureError("injected", `${method} failed`)) as never)
      : call();
}

describe("epochflow run --log json", { concurrency: true }, () => {
  it("has an object a line on standard error and nothing else, from the start of the run to its end", async () => {
    using place = new Place(words(0, 300));
    const { code, stderr, stdout } = await place.run("--epoch-records", "100", "--hold", "--log", "json");
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "");
    const lines = linesOf(stderr);
    for (const line of lines) {
      assert.ok(!Number.isNaN(Date.parse(line.time)), line.time);
      assert.ok(["info", "warn"].includes(line.level), line.level);
      assert.equal(line.pipeline, "words");
      assert.equal(typeof line.message, "string");
    }
    assert.equal(lines[0]!.event, "run-started");
    const of = (epoch: number) => eventsOf(lines.filter((line) => line.epoch === epoch));
    for (const epoch of [1, 2, 3]) assert.deepEqual(of(epoch), ["epoch-planned", "epoch-decided", "epoch-committed"]);
    const end = lines.at(-1)!;
    assert.deepEqual([end.event, end.outcome, end.records, end.epochs], ["run-ended", "done", 300, 3]);
    assert.deepEqual(
      lines.filter(({ event }) => event === "epoch-decided").map(({ records }) => records),
      [100, 100, 100],
    );
  });

  it("tells of tasks where the level asks for it, and of nothing but warnings where that is enough", async () => {
    using place = new Place(words(0, 100));
    const { stderr } = await place.run("--hold", "--log", "json", "--log-level", "debug");
    const task = linesOf(stderr).find(({ event }) => event === "task-ended")!;
    assert.deepEqual([task.epoch, task.attempt, task.stage, task.task, task.outcome], [1, 1, 0, 0, "acknowledged"]);
    assert.ok(Number.isInteger(task.durationMs));
    assert.equal((await place.run("--hold", "--log", "json", "--log-level", "warn")).stderr, "");
  });

  it("tells of failed attempts and the stop, with the error, its place and the way out, and without the record", async () => {
    using place = new Place(words(0, 100));
    place.append(["secretword"]);
    place.program(
      '{ if (word === "secretword") throw new Error("no such word"); return word; }'
        .replace(/^{/, "(() => {")
        .concat(")()"),
    );
    const { code, stderr } = await place.run("--log", "json");
    assert.equal(code, 1, stderr);
    const lines = linesOf(stderr);
    const aborted = lines.filter(({ event }) => event === "attempt-aborted");
    assert.deepEqual(
      aborted.map(({ level, epoch, attempt, failures }) => [level, epoch, attempt, failures]),
      [1, 2, 3].map((attempt) => ["warn", 1, attempt, attempt]),
    );
    const error = aborted[0]!.error as { code: string; place: object; wayOut: string };
    assert.equal(error.code, "function-failed");
    assert.match(JSON.stringify(error.place), /"offset":/);
    assert.match(error.wayOut, /onError/);
    const end = lines.at(-1)!;
    assert.deepEqual([end.event, end.level, end.outcome], ["run-ended", "error", "stopped"]);
    assert.doesNotMatch(stderr, /secretword/);
  });

  it("tells in the same form what keeps a run from beginning", async () => {
    using place = new Place([]);
    const { code, stderr } = await place.run("--log", "json", "--set", "inptu=x");
    assert.equal(code, 2);
    const [line, ...more] = linesOf(stderr);
    assert.deepEqual([line!.event, line!.level, more], ["failed", "error", []]);
  });

  it("tells in the same form what the pipeline's module throws once nobody waits for it", async () => {
    using place = new Place(words(0, 100));
    appendFileSync(place.module, '\nsetTimeout(() => { throw new Error("too late"); }, 0);\n');
    const { code, stderr } = await place.run("--log", "json");
    assert.equal(code, 1, stderr);
    const { event, level, error, message } = linesOf(stderr).at(-1)!;
    assert.deepEqual([event, level, (error as { code: string }).code], ["failed", "error", "unexpected"]);
    assert.match(message, /too late/);
  });
});

describe("epochflow run --log text", () => {
  it("has a line for each event, and the summary", async () => {
    using place = new Place(words(0, 100));
    const finished = await place.run("--hold", "--log", "text");
    assertEnded(finished, 0, /^\S+Z info {2}epoch 1 decided .*records=100 /m, /Done\./);
  });
});

describe("run(…, { log })", { concurrency: true }, () => {
  it("tells of commits that fail, and are tried again", async () => {
    using place = new Place(words(0, 100));
    const { lines, log } = recorder();
    const engine = { engine: (inner: Parameters<typeof around>[0]) => around(inner, failing("sink.commit", 2)) };
    const { outcome } = await runWith(place.module, { state: place.state, patienceMs: 60_000, log }, engine);
    assert.equal(outcome, "done");
    const failed = lines.filter(({ event }) => event === "commit-failed");
    assert.deepEqual(
      failed.map(({ level, epoch, sink, error }) => [level, epoch, sink, (error as { code: string }).code]),
      [1, 1].map((epoch) => ["warn", epoch, "counts", "injected"]),
    );
    const later = lines.slice(lines.indexOf(failed[1]!));
    assert.ok(later.some(({ event, epoch }) => event === "epoch-committed" && epoch === 1));
  });

  it("tells of executions that hand over", async () => {
    using place = new Place(words(0, 500));
    const { lines, log } = recorder();
    await runWith(
      place.module,
      { state: place.state, epochRecords: 50, parallelism: 1, log },
      {
        engine: (engine) => ({ ...engine, policy: { ...engine.policy, eventBudget: 300 } }),
      },
    );
    const [first] = lines.filter(({ event }) => event === "handed-over");
    assert.match(String(first?.execution), /^words-\w+-2$/);
  });

  it("takes pino itself", async () => {
    using place = new Place(words(0, 10));
    const written: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void written.push(line) });
    await run(place.module, { state: place.state, log: log.child({ shop: "north" }) });
    assert.ok(written.length > 3);
    for (const line of written) assert.equal(JSON.parse(line).shop, "north");
  });

  it("goes on when the logger throws", async () => {
    using place = new Place(words(0, 10));
    const broken = () => {
      throw new Error("the disk of the log is full");
    };
    const log: Log = { debug: broken, info: broken, warn: broken, error: broken };
    assert.equal((await run(place.module, { state: place.state, log })).outcome, "done");
  });

  it("refuses what is no logger", async () => {
    const log = { info() {} } as unknown as Log;
    await assert.rejects(run("nowhere.ts", { log }), { code: "bad-option" });
  });
});
