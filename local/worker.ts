import { parentPort, workerData } from "node:worker_threads";
import { operate } from "../shared/epoch/operate.ts";
import { describeError } from "../shared/errors.ts";
import { bind } from "../shared/pipeline/bind.ts";
import { composeLocalEngine, type LocalEngine, openLedger } from "./compose.ts";
import { loadPipeline } from "./load.ts";
import type { WorkerAnswer, WorkerData, WorkerRequest, WorkerSetup } from "./operators.ts";
import { buffersOf } from "./parcels.ts";
import { localPolicy } from "./policy.ts";
import { writeWhereabouts } from "./whereabouts.ts";

/** What a task has read, told a few times a second. What it did not tell any more is in its ack. */
class ReadProgress {
  private records = 0;
  private bytes = 0;
  private toldAt = 0;

  begin(): void {
    this.records = 0;
    this.bytes = 0;
  }

  add(records: number, bytes: number): void {
    this.records += records;
    this.bytes += bytes;
    const now = performance.now();
    if (now - this.toldAt < 50) return;
    this.toldAt = now;
    tell({ kind: "read", records: this.records, bytes: this.bytes });
    this.begin();
  }
}

/** A worker thread: what the function `operate` is on AWS. It has its own connections and its own copy of the pipeline. */
const { whereabouts } = workerData as WorkerData;
const port = parentPort!;
const tell = (answer: WorkerAnswer) => port.postMessage(answer);
const progress = new ReadProgress();
/** Begun as soon as it is known of what, before there is a task. */
let engine: Promise<LocalEngine> | undefined;

port.on("message", async (message: WorkerSetup | WorkerRequest) => {
  if ("url" in message) {
    engine = compose(message);
    engine.catch(() => {}); // each task that waits for it tells
  } else await work(message);
});

async function work({ name, parcels: received }: WorkerRequest): Promise<void> {
  try {
    progress.begin();
    const composed = await engine!;
    const { shuffle } = composed;
    // What is still here of an earlier epoch nobody asks for any more.
    if (name.stage === 0) shuffle.take();
    shuffle.receive(received);
    const outcome = await operate(composed, name);
    const parcels = name.stage === 0 ? shuffle.take() : [];
    port.postMessage({ kind: "done", outcome, parcels } satisfies WorkerAnswer, buffersOf(parcels));
  } catch (error) {
    tell({ kind: "failed", error: describeError(error) });
  }
}

async function compose({ url, parameters, pipeline, state, uid }: WorkerSetup): Promise<LocalEngine> {
  const { topology, codeDigest } = await loadPipeline(url);
  return {
    ...(await composeLocalEngine({
      topology: bind(topology, parameters, pipeline),
      codeDigest,
      state,
      uid,
      ledger: openLedger(state),
      policy: localPolicy({}),
      executions: { start: notHere, describe: notHere },
    })),
    running: (operator, partition, offset) => writeWhereabouts(whereabouts, { operator, partition, offset }),
    read: (records, bytes) => progress.add(records, bytes),
  };
}

async function notHere(): Promise<never> {
  throw new Error("operator tasks start no executions");
}
