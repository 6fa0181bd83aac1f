import { ManualClock } from "../../adapters/memory/clock.ts";
import { MemoryLedger } from "../../adapters/memory/ledger.ts";
import { MemoryObjectStore } from "../../adapters/memory/object-store.ts";
import { abort } from "../../epoch/abort.ts";
import { commit, seal } from "../../epoch/commit.ts";
import { decide } from "../../epoch/decide.ts";
import { type Engine, sourceOf } from "../../epoch/engine.ts";
import type { Decision, EpochPlan, EpochRow } from "../../epoch/epoch.ts";
import { decidedIn } from "../../epoch/epoch.ts";
import { operate } from "../../epoch/operate.ts";
import { newPlan } from "../../epoch/plan-ranges.ts";
import type { Policy } from "../../epoch/policy.ts";
import { wake } from "../../epoch/wake.ts";
import { LossError, revive } from "../../errors.ts";
import { compareFingerprints, type Fingerprint, fingerprint } from "../../pipeline/fingerprint.ts";
import type { Topology } from "../../pipeline/topology.ts";
import { StateStore } from "../../state/state-store.ts";
import { TestSink, type Written } from "./test-sink.ts";
import { TestSource } from "./test-source.ts";

/** A failure stops the pipeline at once; an epoch takes all that there is. */
const policy: Policy = {
  ...{ bounded: false, hold: true, adaptive: false, fused: false, records: null, parallelism: 1 },
  ...{ intervalMs: 1000, paceMs: 0, attempts: 1, backOffMs: 0, eventBudget: Number.MAX_SAFE_INTEGER },
  draining: () => false,
};

/** The protocol's own verbs on ports in memory, one epoch after the other. */
export class TestEngine {
  readonly source: TestSource;
  /** What is committed, by sink. */
  readonly output = new Map<string, Written[]>();
  readonly clock: ManualClock;
  readonly #objects = new MemoryObjectStore();
  readonly #items = new Map<string, string>();
  #engine: Engine;
  #nonces = 0;

  constructor(topology: Topology, partitions: number, startTime: number) {
    const [node] = topology.nodes;
    if (node?.kind !== "source") throw new Error("a topology begins with its source");
    this.clock = new ManualClock(startTime);
    this.source = new TestSource(node.source, partitions);
    this.#engine = this.#compose(topology);
  }

  get topology(): Topology {
    return this.#engine.topology;
  }

  /** As a process that is started anew: nothing is left but ledger and snapshots. @throws LossError `topology-changed` */
  async restart(topology: Topology): Promise<void> {
    const before = await this.#engine.ledger.head();
    this.#engine = this.#compose(topology);
    const differences = before
      ? compareFingerprints(JSON.parse(before.fingerprint) as Fingerprint, fingerprint(topology))
      : [];
    if (differences.length > 0)
      throw new LossError("topology-changed", `the pipeline cannot go on with its state: ${differences.join("; ")}`);
    if (before?.status === "stopped") await this.#engine.ledger.setStatus("running");
  }

  async last(): Promise<Decision | undefined> {
    const head = await this.#engine.ledger.head();
    return decidedIn(head && (await this.#engine.ledger.epoch(head.decided)));
  }

  /**
   * Processes and commits what there is: an epoch, or none where there is nothing to do. One that failed before comes first, as it was planned (I1).
   *
   * @param advanceTo the watermark goes at least here
   */
  async epochs(advanceTo: number | null): Promise<Decision[]> {
    const { ledger, topology, uid } = this.#engine;
    await ledger.open({ pipeline: topology.name, uid, fingerprint: this.#engine.fingerprint });
    const executions = { start: async () => "started" as const, describe: async () => "running" as const };
    await wake({ pipeline: topology.name, uid, ledger, executions });
    const head = (await ledger.head())!;
    if (head.status === "stopped" && head.error) throw revive(head.error);
    const failed = await ledger.epoch(head.decided + 1);
    const decisions = failed ? [await this.#run(failed.epoch, failed.plan)] : [];
    const epoch = head.decided + 1 + decisions.length;
    const plan = await this.#plan(await ledger.epoch(epoch - 1), advanceTo);
    return plan ? [...decisions, await this.#run(epoch, plan)] : decisions;
  }

  async #run(epoch: number, plan: EpochPlan): Promise<Decision> {
    const attempt = await this.#write(epoch, plan);
    await this.#operate(epoch, attempt);
    await this.#commit(epoch);
    return decidedIn(await this.#engine.ledger.epoch(epoch))!;
  }

  async #plan(last: EpochRow | undefined, advanceTo: number | null): Promise<EpochPlan | undefined> {
    const planned = await newPlan(this.#engine, last);
    if (typeof planned === "object" && "partitions" in planned) return { ...planned, advanceTo };
    return advanceTo === null ? undefined : { ...this.#emptyPlan(decidedIn(last)), advanceTo };
  }

  /** Nothing to read, and every partition where it was. */
  #emptyPlan(before: Decision | undefined): Omit<EpochPlan, "advanceTo"> {
    const now = this.clock.now();
    const { idleAfterMs } = sourceOf(this.#engine);
    const partitions = (before?.partitions ?? []).map(({ position, ...known }) => ({
      ...known,
      ...{ from: position, to: position, cuts: [], idle: now - known.activeAt >= idleAfterMs },
    }));
    return { bytes: 0, partitions, watermark: before?.watermark ?? null, processingTime: now };
  }

  async #write(epoch: number, plan: EpochPlan): Promise<number> {
    const { ledger, codeDigest, topology } = this.#engine;
    const tasks = topology.stages.map(() => 1);
    const { owner } = await ledger.wake();
    const seen = (await ledger.epoch(epoch))?.attempt ?? null;
    const attemptPlan = { codeDigest, tasks, fused: tasks.length > 1 };
    const written = await ledger.plan({
      epoch,
      seen,
      owner: owner!,
      plan,
      attemptPlan,
      events: 0,
      now: this.clock.now(),
    });
    if (written.outcome === "planned") return written.attempt;
    throw new Error(`epoch ${epoch} cannot be planned: ${written.outcome}`);
  }

  async #operate(epoch: number, attempt: number): Promise<void> {
    const engine = this.#engine;
    const outcome = await operate(engine, { epoch, attempt, stage: 0, task: 0 });
    if (outcome === "acknowledged" && (await decide(engine, { epoch, attempt })) === "decided") return;
    await abort(engine, { epoch, attempt, failure: { outcome } });
    const error = (await engine.ledger.epoch(epoch))?.failure?.error;
    throw error ? revive(error) : new Error(`epoch ${epoch} failed: ${outcome}`);
  }

  async #commit(epoch: number): Promise<void> {
    for (const sink of (await this.last())?.sinks ?? []) await commit(this.#engine, { epoch, sink });
    await seal(this.#engine, { epoch });
  }

  #rowsOf(sink: string): Written[] {
    const rows = this.output.get(sink) ?? [];
    this.output.set(sink, rows);
    return rows;
  }

  #compose(topology: Topology): Engine {
    const sinks = new Map(
      Object.entries(topology.sinks).map(([id, sink]) => [id, new TestSink(sink, this.#rowsOf(id))]),
    );
    return {
      topology,
      fingerprint: JSON.stringify(fingerprint(topology)),
      codeDigest: "test",
      uid: "test",
      ledger: new MemoryLedger(this.#items),
      objects: this.#objects,
      source: this.source,
      sink: (id) => sinks.get(id)!,
      state: new StateStore(this.#objects),
      executions: { start: async () => "started", describe: async () => "running" },
      clock: this.clock,
      random: { nonce: () => `nonce${this.#nonces++}` },
      policy,
    };
  }
}
