/** The handlers on ports in memory: the state machine runs with them, and each thing that is a handler's own. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, beforeEach, mock, test } from "node:test";
import { composeEngine } from "../composition/engine.ts";
import { interpret } from "../local/machine.ts";
import { readRows } from "../shared/adapters/filesystem/reader.ts";
import { MemoryLedger } from "../shared/adapters/memory/ledger.ts";
import { MemoryObjectStore } from "../shared/adapters/memory/object-store.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { executionName } from "../shared/epoch/names.ts";
import type { PlanAnswer } from "../shared/epoch/plan.ts";
import { eventsOfWait } from "../shared/epoch/policy.ts";
import { count, files, pipeline, seconds, text, tumbling } from "../shared/index.ts";
import { describe } from "../shared/pipeline/describe.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Executions } from "../shared/ports/executions.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import type { Deployment } from "./deployment.ts";
import { mostSecondsToSleep } from "./fused.ts";
import { handlersOf } from "./index.ts";
import { type PolicySettings, policyOf } from "./settings.ts";

const root = temporaryFolder();
after(() => root[Symbol.dispose]());

const uid = "u1";
const context = { getRemainingTimeInMillis: () => 60_000, memoryLimitInMB: "1024" } as never;

/** What the handlers have logged: lines of the logger, and of metrics. */
let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  // To the console that is mocked here, metrics included.
  Object.assign(process.env, { POWERTOOLS_DEV: "true", POWERTOOLS_METRICS_DISABLED: "false" });
  for (const level of ["info", "error", "log"] as const)
    mock.method(console, level, (line: string) => void lines.push(JSON.parse(line)));
});
afterEach(() => mock.restoreAll());

interface Changes {
  readonly executions?: Partial<Executions>;
  readonly engine?: (engine: Engine) => Engine;
  readonly policy?: PolicySettings;
}

async function deploy({ executions = {}, engine = (made) => made, policy = {} }: Changes = {}) {
  const folder = mkdtempSync(join(root.path, "words-"));
  mkdirSync(join(folder, "in"));
  writeFileSync(join(folder, "in", "lines"), "1000 a b\n2000 a\n30000 end\n");
  const topology = describe(
    pipeline("words")
      .from(files.source({ path: join(folder, "in"), value: text(), timestamp: (line) => Number.parseInt(line, 10) }))
      .flatMap((line) => line.split(" ").slice(1))
      .keyBy((word) => word)
      .window(tumbling(seconds(10)))
      .aggregate({ count: count() })
      .to(files.sink({ path: join(folder, "out") }), { id: "counts" }),
  );
  const ledger = new MemoryLedger();
  await ledger.open({ pipeline: "words", uid, fingerprint: JSON.stringify(fingerprint(topology)) });
  const started: string[] = [];
  const all: Executions = {
    start: async (name) => {
      started.push(name);
      return "started";
    },
    describe: async () => "over",
    ...executions,
  };
  const composed = await composeEngine({
    ...{ topology, codeDigest: "code", uid, ledger, executions: all },
    objects: new MemoryObjectStore(),
    policy: policyOf({ paceMs: 0, ...policy }),
  });
  const deployment: Deployment = {
    pipeline: "words",
    engine: async () => ({ ...composed, ...engine(composed) }),
    awakener: async () => ({ pipeline: "words", uid, ledger, executions: all }),
  };
  return { folder, ledger, started, functions: handlersOf(deployment) };
}

type Deployed = Awaited<ReturnType<typeof deploy>>;

/** The handlers as the state machine calls them. */
function statesOf({ functions }: Deployed) {
  const { plan, fused, operate, decide, commit, abort, trigger } = functions;
  const states = {
    Plan: plan,
    Fused: fused,
    Operate: operate,
    Decide: decide,
    Commit: commit,
    Seal: commit,
    Abort: abort,
    "Abort unfinished": abort,
  };
  return Object.fromEntries(
    Object.entries({ ...states, "Start owner": trigger }).map(([state, handler]) => [
      state,
      (input: unknown) => handler(input as never, context) as Promise<unknown>,
    ]),
  );
}

/** Nothing comes any more: a window that is open stays so. */
const endingAtWait = (state: (input: unknown) => Promise<unknown>) => async (input: unknown) => {
  const answer = (await state(input)) as { action: string };
  return answer.action === "wait" ? { action: "end" } : answer;
};

const name = (run: number) => executionName("words", uid, run);

for (const fused of [false, true])
  test(`the state machine runs with the functions, from a wake-up to rest; every line says where it is; ${fused ? "fused" : "apart"}`, async () => {
    const deployed = await deploy({ policy: { fused } });
    const { functions, ledger, started, folder } = deployed;
    assert.deepEqual(await functions.trigger({ source: "epochflow" }, context), { outcomes: ["started"] });
    assert.deepEqual(started, [name(1)]);
    const states = statesOf(deployed);
    const execution = interpret(name(1), {
      ...states,
      Plan: endingAtWait(states.Plan!),
      Fused: endingAtWait(states.Fused!),
    });
    await execution.result;
    const head = await ledger.head();
    assert.deepEqual([head?.status, head?.decided, head?.committed], ["running", 1, 1]);
    const rows = (await Array.fromAsync(readRows(join(folder, "out")))).map((row) => JSON.parse(row));
    assert.deepEqual(rows.map(({ key, count }) => [key, count]).sort(), [
      ["a", 2],
      ["b", 1],
    ]);
    const logged = lines.filter((line) => line.function !== undefined);
    assert.ok(logged.every((line) => line.pipeline === "words"));
    const [operate] = logged.filter((line) => line.function === "operate");
    assert.deepEqual([operate?.epoch, operate?.attempt, operate?.stage, operate?.task], [1, 1, 0, 0]);
    assert.equal(
      logged.some((line) => line.function === "fused"),
      fused,
    );
    // A line has nothing that the invocation before it has left.
    assert.ok(logged.filter((line) => line.function === "trigger").every((line) => line.epoch === undefined));
    const metrics = lines.filter((line) => line._aws !== undefined);
    const sum = (metric: string) => metrics.reduce((total, line) => total + Number(line[metric] ?? 0), 0);
    assert.deepEqual([sum("RecordsIn"), sum("RowsOut"), sum("EpochsCommitted"), sum("Wakes")], [3, 2, 1, 1]);
    assert.deepEqual(await functions.collect({}, context), { objects: 0, staged: 0, rows: 0 });
  });

test("a task that runs out of time notes it, and the next attempt shall be smaller", async () => {
  const hangs = (engine: Engine): Engine => ({
    ...engine,
    source: {
      offsets: "bytes",
      discover: (known) => engine.source.discover(known),
      cut: (range, limit) => engine.source.cut(range, limit),
      split: (range, bytes) => engine.source.split(range, bytes),
      read: async function* () {
        await new Promise((resolve) => setTimeout(resolve, 1000).unref());
      },
      close: async () => {},
    },
  });
  const { functions, ledger } = await deploy({ engine: hangs, policy: { fused: false } });
  await functions.trigger({ source: "epochflow" }, context);
  const answer = await functions.plan({ execution: name(1) }, context);
  assert.equal(answer.action, "work");
  const short = { getRemainingTimeInMillis: () => 50 } as never;
  const task = { epoch: 1, attempt: 1, stage: 0, task: 0 };
  assert.deepEqual(await functions.operate(task, short), { outcome: "failed" });
  const row = await ledger.epoch(1);
  assert.deepEqual([row?.failure?.error.code, row?.failure?.shrink], ["task-timeout", true]);
  const failure = { outcome: await functions.decide(task, context) } as never;
  const aborted = await functions.abort({ epoch: 1, attempt: 1, failure }, context);
  assert.deepEqual(aborted, { outcome: "aborted", waitSeconds: 1 });
});

test("an invocation of several epochs that dies has its attempt aborted, and the next shall be smaller if it was too much", async () => {
  const { functions, ledger } = await deploy();
  await functions.trigger({ source: "epochflow" }, context);
  assert.deepEqual(await functions.abort({ failure: {} }, context), { outcome: "aborted", waitSeconds: 10 });
  assert.equal((await functions.plan({ execution: name(1) }, context)).action, "fused");
  const failure = {
    Error: "Runtime.ExitError",
    Cause: "RequestId: 1 Error: Runtime exited with error: signal: killed",
  };
  assert.deepEqual(await functions.abort({ failure }, context), { outcome: "aborted", waitSeconds: 1 });
  const row = await ledger.epoch(1);
  assert.deepEqual([row?.status, row?.failure?.shrink], ["fenced", true]);
  // What was too much for this function may not be too much for the others, which have more memory.
  const again = await functions.plan({ execution: name(1) }, context);
  assert.deepEqual([again.action, "process" in again && again.process?.attempt], ["work", 2]);
});

test("a plan waits for whole seconds", async () => {
  const early = (engine: Engine): Engine => ({
    ...engine,
    policy: policyOf({ paceMs: 1500, intervalMs: 1500, fused: false }),
  });
  const deployed = await deploy({ engine: early });
  const { functions, ledger, folder } = deployed;
  await functions.trigger({ source: "epochflow" }, context);
  const waits: number[] = [];
  const states = statesOf(deployed);
  const plan = async (input: unknown) => {
    const answer = (await states.Plan!(input)) as { action: string; seconds: number };
    if (answer.action !== "wait") return answer;
    waits.push(answer.seconds);
    return { action: "end" };
  };
  const decided = async (input: unknown) => {
    writeFileSync(join(folder, "in", "more"), "31000 more\n");
    return await states.Decide!(input);
  };
  await interpret(name(1), { ...states, Plan: plan, Decide: decided }).result;
  assert.equal((await ledger.head())?.decided, 1);
  assert.deepEqual([waits.length, waits.every(Number.isInteger)], [1, true]);
});

test("a wait that fused leaves to the state machine counts its events, and leads back to fused", async () => {
  const { functions, ledger, folder } = await deploy({ policy: { paceMs: 300_000 } });
  await functions.trigger({ source: "epochflow" }, context);
  const execution = name(1);
  let answer: PlanAnswer = await functions.plan({ execution }, context);
  writeFileSync(join(folder, "in", "more"), "31000 more\n");
  for (const _ of [1, 2]) {
    const { events } = await ledger.wake();
    answer = await functions.fused({ execution, answer }, context);
    const { action, fused } = answer as PlanAnswer & { action: "wait" };
    assert.deepEqual([action, fused], ["wait", true]);
    assert.equal((await ledger.wake()).events, events + eventsOfWait);
  }
  assert.equal((await ledger.head())?.committed, 1);
});

test("a function sleeps for as long as it is cheaper than three state transitions", () => {
  const dollars = (memoryMiB: number) => mostSecondsToSleep(memoryMiB) * (memoryMiB / 1024) * 0.0000133334;
  for (const memoryMiB of [256, 1024, 3008]) assert.ok(Math.abs(dollars(memoryMiB) - 3 * 0.000025) < 1e-9);
});

test("trigger fails if it can start nothing, and succeeds when it can", async () => {
  let isDown = true;
  const start: Executions["start"] = async () => {
    if (isDown) throw new Error("down");
    return "started";
  };
  const { functions, ledger } = await deploy({ executions: { start, describe: async () => "missing" } });
  const event = { eventSource: "aws:kafka" as const };
  await assert.rejects(functions.trigger(event, context), /down/);
  isDown = false;
  assert.deepEqual(await functions.trigger(event, context), { outcomes: ["started"] });
  assert.equal((await ledger.wake()).run, 1);
});

test("the event of an ended execution takes the lease from it, though it still seems to run", async () => {
  const { functions, ledger, started } = await deploy({ executions: { describe: async () => "running" } });
  await functions.trigger({ source: "epochflow" }, context);
  const ended = (of: string) => ({ source: "aws.states" as const, detail: { name: of, status: "TIMED_OUT" } });
  const queued = (...names: string[]) => ({
    Records: names.map((of) => ({ eventSource: "aws:sqs" as const, body: JSON.stringify(ended(of)) })),
  });
  const answer = await functions.trigger(queued(name(1), "of-another-machine", name(1)), context);
  assert.deepEqual(answer, { outcomes: ["started", "foreign", "running"] });
  assert.deepEqual(started, [name(1), name(2)]);
  assert.equal((await ledger.wake()).owner, 2);
});
