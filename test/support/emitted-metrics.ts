import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { composeEngine } from "../../composition/engine.ts";
import type { Deployment } from "../../functions/deployment.ts";
import { handlersOf } from "../../functions/index.ts";
import { policyOf } from "../../functions/settings.ts";
import { interpret } from "../../local/machine.ts";
import { MemoryLedger } from "../../shared/adapters/memory/ledger.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import type { Engine } from "../../shared/epoch/engine.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import { count, deadLetter, files, pattern, pipeline, seconds, tumbling } from "../../shared/index.ts";
import { describe } from "../../shared/pipeline/describe.ts";
import { fingerprint } from "../../shared/pipeline/fingerprint.ts";
import type { Guarantee } from "../../shared/pipeline/topology.ts";
import type { Executions } from "../../shared/ports/executions.ts";
import type { TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import type { Source } from "../../shared/ports/source.ts";
import { temporaryFolder } from "./folder.ts";

/** A line of the embedded metric format: CloudWatch takes the metrics that `_aws` names out of the line. */
export interface MetricsLine {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [field: string]: unknown;
}

const uid = "u1";
const name = "metered";
const context = { getRemainingTimeInMillis: () => 60_000, memoryLimitInMB: "1024" } as never;
const broken = () => new InfrastructureError("broken", "It breaks once.");

interface Life {
  readonly guarantee?: Guarantee;
  readonly fused: boolean;
  /** What becomes of a record that cannot be read. */
  readonly onError: "deadLetter" | "skip";
}

/** In which rows are lost. */
export const losingLife: Life = { fused: false, onError: "skip", guarantee: "at-most-once" };

/** Lives in which all other metrics are emitted. */
export const lives: readonly Life[] = [
  { fused: false, onError: "deadLetter" },
  { fused: true, onError: "skip" },
];

/**
 * What the functions emit in a life in which everything happens: an epoch with state, an attempt that fails, records that are late or cannot be read, a commit that
 * fails, a rest, a collection.
 */
export async function emittedMetrics(life: Life): Promise<MetricsLine[]> {
  using folder = temporaryFolder();
  const lines: string[] = [];
  // So that metrics go to this console.
  const before = { ...process.env };
  Object.assign(process.env, { POWERTOOLS_DEV: "true", POWERTOOLS_METRICS_DISABLED: "false" });
  const mocks = (["info", "error", "log"] as const).map((level) =>
    mock.method(console, level, (line: string) => void lines.push(line)),
  );
  try {
    await live(folder.path, life);
  } finally {
    for (const mocked of mocks) mocked.mock.restore();
    process.env = before;
  }
  return lines.map((line) => JSON.parse(line)).filter((line) => line._aws !== undefined);
}

/** How many are still to fail. */
interface Failures {
  reads: number;
  commits: number;
}

async function live(folder: string, life: Life): Promise<void> {
  // The state machine tries a task twice within an attempt.
  const fails: Failures = { reads: life.fused ? 1 : 2, commits: 1 };
  const { functions, started } = await deploy(folder, life, fails);
  mkdirSync(join(folder, "in"));
  const input = ["1000 a b\n2000 a\n30000 end\n", "3000 late\nunreadable\n45000 end\n"];
  for (const [index, text] of input.entries()) {
    writeFileSync(join(folder, "in", `lines-${index}`), text);
    await functions.trigger({ source: "epochflow" }, context);
    await interpret(started.at(-1)!, statesOf(functions)).result;
  }
  await functions.collect({}, context);
}

async function deploy(folder: string, { fused, onError, guarantee = "exactly-once" }: Life, fails: Failures) {
  const topology = describe(
    pipeline(name, {
      guarantee,
      onError: onError === "skip" ? "skip" : deadLetter(files.sink({ path: join(folder, "dead") })),
    })
      .from(
        files.source({
          path: join(folder, "in"),
          value: pattern<"time" | "words">(/(?<time>\d+) (?<words>.*)/),
          timestamp: ({ time }) => Number(time),
        }),
      )
      .flatMap(({ words }) => words.split(" "))
      .keyBy((word) => word)
      .window(tumbling(seconds(10)), { late: files.sink({ path: join(folder, "late") }) })
      .aggregate({ count: count() })
      .to(files.sink({ path: join(folder, "out") }), { id: "counts" }),
  );
  const ledger = new MemoryLedger();
  await ledger.open({ pipeline: name, uid, fingerprint: JSON.stringify(fingerprint(topology)) });
  const started: string[] = [];
  const executions: Executions = {
    start: async (execution) => {
      started.push(execution);
      return "started";
    },
    describe: async () => "over",
  };
  const composed = await composeEngine({
    ...{ topology, codeDigest: "code", uid, ledger, executions },
    objects: new MemoryObjectStore(),
    policy: policyOf({ paceMs: 0, fused }),
  });
  const { source } = composed;
  const engine: Engine = {
    ...composed,
    source: likeKafka(source, fails),
    sink: (id) => failing(composed.sink(id), fails),
  };
  const deployment: Deployment = {
    pipeline: name,
    engine: async () => ({ ...engine, close: composed.close }),
    awakener: async () => ({ pipeline: name, uid, ledger, executions }),
  };
  return { functions: handlersOf(deployment), started };
}

/** The handlers as the state machine calls them. When a plan waits, for nothing will come, the execution ends. */
function statesOf({ plan, fused, operate, decide, commit, abort, trigger }: ReturnType<typeof handlersOf>) {
  const states = {
    Operate: operate,
    Decide: decide,
    Commit: commit,
    Seal: commit,
    Abort: abort,
    "Start owner": trigger,
  };
  const called = (handler: (input: never, context: never) => Promise<unknown>) => (input: unknown) =>
    handler(input as never, context);
  const ending = (handler: ReturnType<typeof called>) => async (input: unknown) => {
    const answer = (await handler(input)) as { action: string; seconds?: number };
    return answer.action === "wait" && answer.seconds! > 1 ? { action: "end" } : answer;
  };
  return {
    ...Object.fromEntries(Object.entries(states).map(([state, handler]) => [state, called(handler)])),
    Plan: ending(called(plan)),
    Fused: ending(called(fused)),
  };
}

/** Its records have been written a minute ago. */
function likeKafka(source: Source, fails: Failures): Source {
  return {
    offsets: source.offsets,
    discover: (known) => source.discover(known),
    cut: (range, limit) => source.cut(range, limit),
    split: (range, pieceBytes) => source.split(range, pieceBytes),
    read: async function* (range) {
      if (fails.reads-- > 0) throw broken();
      for await (const batch of source.read(range))
        yield { ...batch, timestamps: new Float64Array(batch.count).fill(Date.now() - 60_000) };
    },
    close: () => source.close(),
  };
}

function failing(sink: TwoPhaseCommitSink, fails: Failures): TwoPhaseCommitSink {
  const unlessBroken =
    <Input>(work: (input: Input) => Promise<void>) =>
    async (input: Input) => {
      if (fails.commits-- > 0) throw broken();
      await work(input);
    };
  const commit = unlessBroken(sink.commit.bind(sink));
  const publish = unlessBroken(sink.publish!.bind(sink));
  return new Proxy(sink, {
    get: (_, member) => {
      const value = Reflect.get(sink, member);
      if (member === "commit") return commit;
      if (member === "publish") return publish;
      return typeof value === "function" ? value.bind(sink) : value;
    },
  });
}
