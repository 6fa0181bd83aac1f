import { collect } from "../../epoch/collect.ts";
import type { DecidedEpoch } from "../../epoch/epoch.ts";
import type { Topology } from "../../pipeline/topology.ts";
import type { Fault } from "./faults.ts";
import { People, type Values } from "./people.ts";
import { Sandbox } from "./sandbox.ts";
import { type Violation, World, type WorldOptions } from "./world.ts";

export interface Subject {
  readonly topology: Topology;
  readonly values: Values;
  /** A second opinion on a finished run: what is wrong with it, if anything. */
  judge?(world: World): string | undefined;
}

export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly faults: readonly Fault[];
  readonly timeline: readonly string[];
  /** How often each state of the protocol was reached. */
  readonly states: ReadonlyMap<string, number>;
  readonly steps: number;
  readonly epochs: number;
}

/** Events after which no more faults come, and events within which the pipeline must then drain. */
const stepsWithFaults = 12_000;
const stepsToDrain = 30_000;

/** One run of a seed: the same every time, byte for byte. */
export async function simulate({ topology, values, judge }: Subject, options: WorldOptions): Promise<Outcome> {
  const world = new World(topology, options);
  const { scheduler, chance, faults } = world;
  const people = new People(world, values);
  await world.open();
  const lengthMs = chance.magnitude("length", 1000, 3_600_000);
  people.begin(lengthMs);
  scheduler.after(lengthMs * 1.5, () => faults.end());

  await drive(world, people, judge);
  if (world.violation?.invariant === "I6") await world.blameOperator();
  return {
    seed: options.seed,
    violation: world.violation,
    faults: faults.injected,
    timeline: world.timeline,
    states: world.states,
    steps: scheduler.steps,
    epochs: world.violation ? 0 : world.head.decided,
  };
}

/** A person is asked once for each sink of the two epochs that may be uncommitted, and for a topology and a source. */
const mostStops = 12;

/** Has everything happen, until nothing more does, and looks at what it has come to. */
export async function drive(
  world: World,
  people: Pick<People, "mend" | "resume">,
  judge: Subject["judge"],
  isCut = () => false,
): Promise<void> {
  const { scheduler, faults, nature } = world;
  let endedAt: number | undefined;
  const step = async (): Promise<boolean> => {
    await world.catchUp();
    if (scheduler.steps === stepsWithFaults) faults.end();
    if (faults.isOver) endedAt ??= scheduler.steps;
    if (endedAt !== undefined && scheduler.steps > endedAt + stepsToDrain)
      nature.violated("liveness", `not drained ${stepsToDrain} steps after the last fault`);
    return world.violation !== undefined;
  };
  await scheduler.run(step);
  if (isCut()) return;
  for (let turn = 1; world.head.status !== "running" && !world.violation; turn++) {
    const { status, error } = world.head;
    if (turn > mostStops)
      nature.violated("I8", `HEAD is ${status}, and the way out does not lead out: ${error?.message}`);
    faults.end();
    void (status === "stopped" ? people.mend(turn) : people.resume(turn));
    await scheduler.run(step);
  }
  if (!world.violation) await finish(world, judge, step);
}

/** Nothing happens any more: all input is processed, all is committed, and after a sweep nothing is left over. */
async function finish(world: World, judge: Subject["judge"], step: () => Promise<boolean>): Promise<void> {
  const { nature, head, executions, log } = world;
  const must = (invariant: string, holds: boolean, message: string) => holds || nature.violated(invariant, message);
  must("I7", head.status === "running", `at rest, HEAD is ${head.status}`);
  must("I4", head.committed === head.decided, `at rest, epoch ${head.committed + 1} is not committed`);
  must("I7", executions.running().length === 0, `at rest, ${executions.running()} still runs`);
  const last = world.rows().findLast((row) => row.status === "decided");
  must(
    "I7",
    world.isBounded || !hasWindowToFire(world.topology, last),
    "at rest, a window waits that all records are past",
  );
  for (const id of log.ids()) {
    const { start, end } = log.status(id);
    const at = last?.decision.partitions.find((one) => one.id === id)?.position ?? start;
    must("I7", at === end, `at rest, ${id} is read up to ${at}, and has records up to ${end}`);
  }
  await freeLease(world, step);
  if (world.topology.guarantee === "exactly-once") world.readers.finish(head.committed);
  world.publications.finish();
  await sweep(world);
  const opinion = judge?.(world);
  if (opinion) nature.violated("oracle", opinion);
}

/**
 * At rest nobody has the lease; but for a run that was never started, where a repeated trigger granted it and could not start it.
 * Nothing waits for that run, and the next event, whichever it is, starts it.
 */
async function freeLease(world: World, step: () => Promise<boolean>): Promise<void> {
  const { nature, scheduler, faults, lease } = world;
  if (lease.owner === null) return;
  if (world.wasStarted(lease.owner)) nature.violated("I7", `at rest, run ${lease.owner} has the lease`);
  faults.end();
  world.wake("the next event", null);
  await scheduler.run(step);
  if (world.lease.owner !== null) nature.violated("I7", `the next event does not start run ${world.lease.owner}`);
}

/** When all partitions are silent, the latest of them says what time it is. */
function hasWindowToFire(topology: Topology, last: DecidedEpoch | undefined): boolean {
  const node = topology.nodes[0];
  const outOfOrderMs = node?.kind === "source" ? node.source.outOfOrderMs : 0;
  const times = last?.decision.partitions.flatMap(({ maxEventTime }) => maxEventTime ?? []) ?? [];
  const nextFire = last?.decision.nextFire ?? null;
  return nextFire !== null && times.length > 0 && Math.max(...times) - outOfOrderMs >= nextFire;
}

async function sweep(world: World): Promise<void> {
  const { nature, scheduler, folders, store } = world;
  const { objects } = store;
  const sandbox = new Sandbox(nature, "last sweep", "code-1");
  sandbox.begin("last sweep");
  const done = collect(world.engine(sandbox), { checkpoints: 2, history: 1000 });
  let failure: unknown;
  done.catch((error) => {
    failure = error;
  });
  await scheduler.run(() => world.violation !== undefined);
  if (failure) nature.violated("code", `the last sweep fails: ${failure}`);
  const needed = store.needed();
  for (const key of objects.keys()) if (!needed.has(key)) nature.violated("leak", `object ${key} is nobody's`);
  for (const key of needed) if (!objects.has(key)) nature.violated("I5", `object ${key} is gone, and still needed`);
  for (const [sink, { staged }] of folders)
    for (const name of staged.keys()) nature.violated("leak", `${name} of ${sink} is still staged`);
}
