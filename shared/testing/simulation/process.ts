import { MemoryLedger } from "../../adapters/memory/ledger.ts";
import type { Engine } from "../../epoch/engine.ts";
import type { Policy } from "../../epoch/policy.ts";
import { fingerprint } from "../../pipeline/fingerprint.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { TwoPhaseCommitSink } from "../../ports/sink.ts";
import { StateStore } from "../../state/state-store.ts";
import type { Chance } from "./chance.ts";
import { SimulatedFilesSink } from "./files-sink.ts";
import { LaneSink } from "./lane-sink.ts";
import { LogSource } from "./log.ts";
import type { Sandbox } from "./sandbox.ts";
import type { World } from "./world.ts";

/** What a process works with: the protocol's ports to the services of a world, each call of which is a step. */
export function composeProcess(world: World, sandbox: Sandbox): Engine {
  const { uid, log, chance, scheduler, executions } = world;
  const topology = world.topologyOf(sandbox.codeDigest);
  const call = <T>(method: string, effect: () => T | Promise<T>) => sandbox.call(method, effect);
  const callKafka = <T>(method: string, effect: () => T | Promise<T>) =>
    sandbox.call(method, () => {
      world.onCommit?.(`${sandbox.invocation.name} ${method}`);
      return effect();
    });
  const ledger = ledgerOf(world, sandbox);
  const objects = world.store.port(sandbox);
  const sinks = new Map<string, TwoPhaseCommitSink>();
  const makeSink = (id: string) =>
    (world.lanes.has(id)
      ? new LaneSink(world.broker, objects, callKafka, () => sandbox.now(), world.publications)
      : new SimulatedFilesSink(world.folders.get(id)!, call, world.publications)) as unknown as TwoPhaseCommitSink;
  return {
    topology,
    fingerprint: JSON.stringify(fingerprint(topology)),
    codeDigest: sandbox.codeDigest,
    uid,
    ledger,
    objects,
    source: new LogSource(log, chance, call, {
      looked: async (isQuiet) => {
        const lateMs = world.onDiscover?.(isQuiet) ?? 0;
        if (lateMs > 0) await scheduler.sleep(lateMs);
      },
    }),
    sink: (id) => {
      const sink = sinks.get(id) ?? makeSink(id);
      sinks.set(id, sink);
      return sink;
    },
    state: new StateStore(objects),
    executions: {
      start: (name) => sandbox.call("executions.start", () => executions.start(name)),
      describe: (name) => sandbox.call("executions.describe", () => executions.describe(name)),
    },
    clock: { now: () => sandbox.now(), sleep: (ms) => sandbox.sleep(ms) },
    random: { nonce: () => sandbox.nonce() },
    policy: { ...world.policy, draining: () => false, chooseTasks: (_, stages) => tasksOf(world, sandbox, stages) },
  };
}

/** How all processes of a run plan, for its seed. */
export function policyOf(chance: Chance): Omit<Policy, "chooseTasks" | "draining"> {
  return {
    bounded: chance.of("bounded") < 0.4,
    hold: chance.of("hold") < 0.3,
    intervalMs: 1000,
    paceMs: chance.of("paced") < 0.3 ? Math.round(chance.magnitude("pace", 1, 5000)) : 0,
    adaptive: chance.of("adaptive") < 0.7,
    records: chance.of("records") < 0.8 ? Math.round(chance.magnitude("records of an epoch", 1, 30)) : null,
    parallelism: 3,
    fused: chance.of("fused") < 0.4,
    attempts: 3,
    backOffMs: 100,
    eventBudget: chance.pick("event budget", [300, 700, 1500, 20_000]),
  };
}

/** The ledger's own verbs, each a step. */
function ledgerOf(world: World, sandbox: Sandbox): Ledger {
  const ledger = new MemoryLedger(world.items);
  const verbs = Object.entries(ledger).filter(([, verb]) => typeof verb === "function");
  const steps = verbs.map(([name, verb]) => [
    name,
    (...given: unknown[]) => sandbox.call(`ledger.${name}`, () => verb(...given)),
  ]);
  return {
    ...(Object.fromEntries(steps) as unknown as Ledger),
    plan: (write) =>
      sandbox.call("ledger.plan", () => {
        world.planner = write.owner;
        return ledger.plan(write);
      }),
  };
}

function tasksOf({ chance, faults, setup, policy }: World, sandbox: Sandbox, stages: number): readonly number[] {
  if (setup) return setup.tasks;
  const site = sandbox.invocation.name;
  const changes = faults.hits("parallelism changes", site);
  // Several epochs in one invocation are epochs of one task.
  if (policy.fused && chance.of(`one task ${changes ? site : ""}`) < 0.8) return Array(stages).fill(1);
  return Array.from({ length: stages }, (_, stage) => 1 + chance.below(`tasks ${changes ? site : ""} ${stage}`, 3));
}
