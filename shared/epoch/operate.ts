import { allEnded } from "../all-ended.ts";
import { describeError, EpochflowError, type ErrorDescription } from "../errors.ts";
import { KeyedStage } from "../operators/keyed-stage.ts";
import { SourceStage } from "../operators/source-stage.ts";
import type { Shuffle } from "../ports/shuffle.ts";
import type { SourceRange } from "../ports/source.ts";
import type { GroupRange } from "../state/stage-state.ts";
import { addCounts, isComplete, maxEventTimesOf } from "./decide.ts";
import { type Engine, sourceOf } from "./engine.ts";
import type { Ack, ChainRun, EpochRow, PlannedEpoch } from "./epoch.ts";
import { decidedIn } from "./epoch.ts";
import { hasRows } from "./loss.ts";
import { objectKey } from "./names.ts";
import { ObjectShuffle } from "./object-shuffle.ts";
import { TaskOutput } from "./output.ts";
import type { TaskName } from "./plan.ts";
import { readAhead } from "./read-ahead.ts";
import { watermarkAfter } from "./watermark.ts";

export type OperateOutcome = "acknowledged" | "fenced" | "replan" | "incomplete" | "failed";

/**
 * One invocation of a task: reads its share, folds it into state, and makes all that it wrote durable before it acknowledges. Nothing that
 * it writes is visible to a reader or to another attempt (I2); its names count only if its ack is the task's first.
 */
export async function operate(engine: Engine, name: TaskName): Promise<OperateOutcome> {
  const { ledger } = engine;
  const [row, last] = await Promise.all([ledger.epoch(name.epoch), ledger.epoch(name.epoch - 1)]);
  if (row?.status !== "planned" || row.attempt !== name.attempt) return "fenced";
  if (row.attemptPlan.codeDigest !== engine.codeDigest) return "replan";
  const acks = await ledger.acks(name);
  if (acks.some((ack) => ack.stage === name.stage && ack.task === name.task)) return "acknowledged";
  const upstream = acks.filter((ack) => ack.stage < name.stage);
  if (!isComplete(row, upstream, name.stage) && name.stage > 0) return "incomplete";
  const task = new Task(engine, row, name);
  let ack: Ack;
  try {
    ack = await task.run(upstream, decidedIn(last)?.checkpoint.stages ?? {});
  } catch (error) {
    await task.discard();
    if (!(error instanceof EpochflowError) || error.kind === "infrastructure") throw error;
    // Noted under the attempt, and only while it is planned: a zombie's failure is nobody's.
    await ledger.fail(name, { error: await placed(engine, row, error), shrink: false });
    return "failed";
  }
  if (row.attemptPlan.guarantee === "at-most-once") return await task.claim(ack);
  // Nothing is discarded from here on: if the answer is lost, the ack may still be the one that counts, with all that it names (I5).
  return (await ledger.ack(name, ack)).outcome;
}

/** The error, with the file and line of the record that it names, where the source has such. */
async function placed(engine: Engine, row: EpochRow, error: EpochflowError): Promise<ErrorDescription> {
  const description = error.describe();
  const { partition, offset } = error.place;
  const range = row.plan.partitions.find((one) => one.id === partition);
  if (!range || offset === undefined || error.place.line !== undefined) return description;
  const place = await engine.source.place?.(range, offset).catch(() => undefined);
  return { ...description, place: { ...place, ...description.place } };
}

type Chains = Readonly<Record<string, readonly ChainRun[]>>;

/** The work of one invocation, from its share of the input to its ack. */
class Task {
  private readonly invocation;
  private readonly output: TaskOutput;
  private readonly shuffles: Shuffle;
  private readonly startedAt: number;
  private readonly chains: Record<string, readonly ChainRun[]> = {};
  private shuffle: string | null = null;
  private stateBytes = 0;
  /** The stage with state, once it has fired. */
  private keyed: Awaited<ReturnType<Task["loadKeyed"]>> | undefined;
  private windows: { nextFire: number | null; openUntil: number | null } = { nextFire: null, openUntil: null };
  private readonly engine: Engine;
  private readonly row: PlannedEpoch;
  private readonly name: TaskName;

  constructor(engine: Engine, row: PlannedEpoch, name: TaskName) {
    this.engine = engine;
    this.row = row;
    this.name = name;
    const { uid, topology, random, clock } = engine;
    this.invocation = { ...name, pipeline: topology.name, uid, nonce: random.nonce() };
    this.output = new TaskOutput(engine, this.invocation, row.attemptPlan.guarantee);
    this.shuffles = engine.shuffle ?? new ObjectShuffle(engine.objects, topology.keyGroups);
    this.startedAt = clock.now();
  }

  async run(upstream: readonly Ack[], before: Chains): Promise<Ack> {
    const { fused } = this.row.attemptPlan;
    const source = this.name.stage === 0 ? await this.readSource(fused ? before : undefined) : undefined;
    const keyed = this.name.stage > 0 ? await this.mergeShuffle(upstream, before) : undefined;
    const prepared = await this.makeDurable();
    const counts = [source?.counts, keyed?.counts, ...(source?.keyed ? [source.keyed.counts] : [])];
    return {
      stage: this.name.stage,
      task: this.name.task,
      nonce: this.invocation.nonce,
      chains: this.chains,
      shuffle: this.shuffle,
      prepared,
      counts: { ...addCounts(counts.filter((one) => one !== undefined)), rows: this.output.rows },
      maxEventTimes: Object.fromEntries(source?.maxEventTimes ?? []),
      ...this.windows,
      stateBytes: this.stateBytes,
      startedAt: this.startedAt,
      endedAt: this.engine.clock.now(),
    };
  }

  /** New state and output, side by side where no reader sees the output before the decision (I2). Gives the handles of what is prepared. */
  private async makeDurable() {
    const saved = this.saveState();
    if (this.row.attemptPlan.guarantee !== undefined) await saved;
    const [prepared] = await allEnded([this.finishOutput(), saved]);
    return prepared;
  }

  private async saveState(): Promise<void> {
    const { keyed } = this;
    if (keyed === undefined) return;
    const key = objectKey({ ...this.invocation, stage: keyed.index }, "snapshot");
    this.chains[keyed.index] = await this.engine.state.save(keyed.state, key);
    this.stateBytes += keyed.state.savedBytes();
  }

  /** What the guarantee wants of the rows before the ack; handles of what is prepared. */
  private async finishOutput() {
    const { guarantee } = this.row.attemptPlan;
    if (guarantee === undefined) return await this.output.preCommit();
    const fail = async (error: unknown) => {
      throw error;
    };
    if (guarantee === "at-least-once") await this.output.publish(fail);
    return [];
  }

  /**
   * At-most-once: the ack comes first. Whoever has made it may write the rows, once; whatever happens then, nobody else does. Rows that are not confirmed count
   * as lost.
   */
  async claim(ack: Ack): Promise<OperateOutcome> {
    const { ledger } = this.engine;
    const tryToClaim = () => ledger.ack(this.name, ack, true);
    // If the answer alone was lost, the second says so; else nobody would ever write the rows.
    const claimed = await tryToClaim().catch(tryToClaim);
    if (claimed.outcome === "fenced" || claimed.ack.nonce !== ack.nonce) {
      await this.discard();
      return claimed.outcome;
    }
    if (!hasRows(ack)) return "acknowledged";
    const published = await this.output.publish(async (error) => {
      await ledger.fail(this.name, { error: describeError(error), shrink: false }).catch(() => {});
    });
    await ledger.confirm(this.name, ack, published);
    return "acknowledged";
  }

  /** Closes and deletes what is staged, as far as that goes: what is left is swept by the collector. */
  async discard(): Promise<void> {
    await this.output.discard();
  }

  /** Stage 0. A fused task (`before` is given) folds each sub-range straight into the state of the next stage. */
  private async readSource(before: Chains | undefined) {
    const { engine, output, row } = this;
    const stage = new SourceStage(await output.stage(0, row.plan));
    const keyed = before ? await this.loadKeyed(1, 0, before) : undefined;
    const partials = [];
    let seen = { records: 0, bytes: 0 };
    const pieces = this.pieces();
    for await (const { range, batches } of readAhead(engine.source, pieces)) {
      stage.begin(range.id);
      for await (const batch of batches) {
        stage.process(batch);
        await output.drained();
        engine.read?.(stage.counts.records - seen.records, stage.counts.bytes - seen.bytes);
        seen = { records: stage.counts.records, bytes: stage.counts.bytes };
      }
      const made = stage.end(range !== pieces.at(-1));
      if (keyed) keyed.stage.merge(made);
      else partials.push(made);
    }
    engine.source.prefetch?.(this.endsOf(pieces));
    if (keyed) await this.fire(keyed, stage.maxEventTimes);
    else if (row.attemptPlan.tasks.length > 1) {
      this.shuffle = objectKey(this.invocation, "shuffle");
      await this.shuffles.put(this.shuffle, partials, this.groupsOf(1));
    }
    return { counts: stage.counts, maxEventTimes: stage.maxEventTimes, keyed: keyed?.stage };
  }

  /** This task's sub-ranges: all of the epoch's, in order, dealt out in contiguous shares. */
  private pieces() {
    const all = this.row.plan.partitions.flatMap(({ id, identity, from, to, cuts }) =>
      to > from ? [from, ...cuts].map((start, index) => ({ id, identity, from: start, to: cuts[index] ?? to })) : [],
    );
    const count = this.row.attemptPlan.tasks[0] ?? 1;
    const { task } = this.name;
    return all.slice(share(all.length, task, count), share(all.length, task + 1, count));
  }

  /** Those after which, in their partition, the next epoch begins (I1). It most likely deals its ranges out as this one does. */
  private endsOf(pieces: readonly SourceRange[]): SourceRange[] {
    const ends = new Map(this.row.plan.partitions.map(({ id, to }) => [id, to]));
    return pieces.filter(({ id, to }) => ends.get(id) === to);
  }

  /** A later stage: what the stage before it shuffled, in the order of its tasks, which is that of the input. */
  private async mergeShuffle(upstream: readonly Ack[], before: Chains) {
    const { stage, task } = this.name;
    const keyed = await this.loadKeyed(stage, task, before);
    const feeding = upstream.filter((ack) => ack.stage === stage - 1).sort((one, other) => one.task - other.task);
    for (const { shuffle } of feeding) {
      if (shuffle === null) continue;
      const partials = await this.shuffles.get(shuffle, keyed.groups);
      for (const one of partials) keyed.stage.merge(one);
    }
    await this.fire(keyed, maxEventTimesOf(upstream));
    return keyed.stage;
  }

  /** Key groups of the tasks of a stage, in contiguous shares. */
  private groupsOf(stage: number): GroupRange[] {
    const { keyGroups } = this.engine.topology;
    const count = this.row.attemptPlan.tasks[stage] ?? 1;
    return Array.from({ length: count }, (_, task) => ({
      from: share(keyGroups, task, count),
      to: share(keyGroups, task + 1, count),
    }));
  }

  private async loadKeyed(stage: number, task: number, before: Chains) {
    const { topology, state, uid } = this.engine;
    const groups = this.groupsOf(stage)[task]!;
    const loaded = await state.load(`${topology.name}/${uid}`, topology, stage, groups, before[stage] ?? []);
    const environment = await this.output.stage(stage, this.row.plan);
    return { index: stage, groups, state: loaded, stage: new KeyedStage(environment, stage, loaded) };
  }

  /** Fires what W(n) closes. */
  private async fire(keyed: Awaited<ReturnType<Task["loadKeyed"]>>, maxEventTimes: ReadonlyMap<string, number>) {
    const watermark = watermarkAfter(this.row.plan, maxEventTimes, sourceOf(this.engine).outOfOrderMs);
    for (const _ of keyed.stage.fire(watermark)) await this.output.drained();
    this.windows = keyed.stage.openWindows();
    this.keyed = keyed;
  }
}

/** Where share `index` of `count` contiguous ones begins. */
function share(total: number, index: number, count: number): number {
  return Math.floor((total * index) / count);
}
