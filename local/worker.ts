import { parentPort, workerData } from "node:worker_threads";
import type { Engine } from "../shared/epoch/engine.ts";
import { operate } from "../shared/epoch/operate.ts";
import type { TaskName } from "../shared/epoch/plan.ts";
import { describeError } from "../shared/errors.ts";
import { bind } from "../shared/pipeline/bind.ts";
import { composeEngine, openLedger } from "./compose.ts";
import { loadPipeline } from "./load.ts";
import type { WorkerAnswer, WorkerSetup } from "./operators.ts";
import { localPolicy } from "./policy.ts";
import { writeWhereabouts } from "./whereabouts.ts";

/** A worker thread: what the function `operate` is on AWS. It has its own connections and its own copy of the pipeline. */
const setup = workerData as WorkerSetup;
const port = parentPort!;
const tell = (answer: WorkerAnswer) => port.postMessage(answer);
let engine: Promise<Engine> | undefined;

port.on("message", async (name: TaskName) => {
  try {
    engine ??= compose();
    tell({ kind: "done", outcome: await operate(await engine, name) });
  } catch (error) {
    tell({ kind: "failed", error: describeError(error) });
  }
});

async function compose(): Promise<Engine> {
  const { topology, codeDigest } = await loadPipeline(setup.url);
  return {
    ...composeEngine({
      topology: bind(topology, setup.parameters),
      codeDigest,
      state: setup.state,
      uid: setup.uid,
      ledger: openLedger(setup.state),
      policy: localPolicy({}),
      executions: { start: notHere, describe: notHere },
    }),
    running: (operator, partition, offset) => writeWhereabouts(setup.whereabouts, { operator, partition, offset }),
    read: throttled((records, bytes) => tell({ kind: "read", records, bytes })),
  };
}

async function notHere(): Promise<never> {
  throw new Error("operator tasks start no executions");
}

/** Sums up calls, and passes them on a few times a second. */
function throttled(report: (records: number, bytes: number) => void) {
  let sum = { records: 0, bytes: 0 };
  let last = 0;
  return (records: number, bytes: number) => {
    sum = { records: sum.records + records, bytes: sum.bytes + bytes };
    const now = performance.now();
    if (now - last < 50) return;
    last = now;
    report(sum.records, sum.bytes);
    sum = { records: 0, bytes: 0 };
  };
}
