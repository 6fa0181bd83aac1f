import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { statePaths } from "../../../local/compose.ts";
import type { Started } from "../../support/cli.ts";
import { type Kind, over } from "../disturbance.ts";
import { atRequest, transactionRequests, whileOpen } from "./kafka-requests.ts";
import type { LocalRound } from "./round.ts";

type LocalKind = Kind<LocalRound>;

/** Longest time until a process is there, or has done what it was begun for. */
const patienceMs = 8000;
/** A death "as it starts" comes so soon. */
const startMs = 600;
/** Calls of ports until a death at one; an epoch makes some dozens. */
const mostCalls = 300;
/** Above the time-out of a transaction, and how often brokers look for those that are past it. */
const pastTimeOutMs = 63_000;

const commitsToKafka = ({ shape }: LocalRound) => Object.values(shape.sinks).includes("kafka");

const killed: LocalKind = {
  name: "process killed",
  sort: "kill",
  weight: 20,
  disturb: async ({ runner }) => (runner.signal("SIGKILL") ? over : undefined),
};

const killedAsItStarts: LocalKind = {
  name: "process killed as it starts",
  sort: "kill",
  weight: 6,
  async disturb({ runner, random }) {
    const before = runner.life;
    runner.signal("SIGKILL");
    await until(() => runner.life !== undefined && runner.life !== before);
    await sleep(random.below(startMs));
    return runner.life !== before && runner.signal("SIGKILL") ? over : undefined;
  },
};

const killedAtCall: LocalKind = {
  name: "process killed at a call of a port",
  sort: "kill",
  needsProgress: true,
  weight: 8,
  async disturb({ runner, random, timeline }) {
    runner.dieNext({ call: 1 + random.below(mostCalls), when: random.below(2) === 0 ? "before" : "after" });
    const before = runner.life;
    runner.signal("SIGKILL");
    await until(() => runner.life !== undefined && runner.life !== before);
    const { life } = runner;
    if (life === undefined || !(await ended(life))) return undefined;
    const { stderr } = await life.finished;
    timeline.note(`it ${/dies .*/.exec(stderr)?.[0] ?? "ended otherwise"}`);
    return life.child.signalCode === "SIGKILL" ? over : undefined;
  },
};

const killedInTransaction: LocalKind = {
  name: "process killed at a request of a transaction",
  sort: "kill",
  needsProgress: true,
  weight: 10,
  applies: commitsToKafka,
  async disturb({ runner, kafka, random }) {
    const request = transactionRequests[random.below(transactionRequests.length)]!;
    let isKilled = false;
    await atRequest(kafka!.proxy, request, () => {
      isKilled = runner.signal("SIGKILL");
    });
    return isKilled ? over : undefined;
  },
};

const paused: LocalKind = {
  name: "process paused",
  sort: "pause",
  blocks: true,
  weight: 14,
  disturb: async (round) => {
    const heal = pause(round);
    await sleep(round.random.below(1200));
    return heal;
  },
};

const pausedInTransaction: LocalKind = {
  name: "process paused at a request of a transaction",
  sort: "pause",
  blocks: true,
  weight: 8,
  applies: commitsToKafka,
  excludes: [paused.name],
  async disturb(round) {
    const request = transactionRequests[round.random.below(transactionRequests.length)]!;
    let heal: ReturnType<typeof pause>;
    await atRequest(round.kafka!.proxy, request, () => {
      heal = pause(round);
    });
    return heal;
  },
};

/** The broker ends its transaction meanwhile. */
const pausedPastTimeOut: LocalKind = {
  name: "process paused past its transaction's time-out",
  sort: "pause",
  needsProgress: true,
  weight: 1,
  applies: commitsToKafka,
  excludes: [paused.name, pausedInTransaction.name],
  async disturb(round) {
    let heal: ReturnType<typeof pause>;
    await atRequest(round.kafka!.proxy, whileOpen[round.random.below(whileOpen.length)]!, () => {
      heal = pause(round);
    });
    if (heal) await sleep(pastTimeOutMs);
    await heal?.();
    return heal && over;
  },
};

/**
 * A process that is paused keeps its lock, which the system frees at its end alone. Here somebody takes the lock's file away, which nobody should, and begins
 * another process; then the first one wakes up, and both are at work.
 */
const overtaken: LocalKind = {
  name: "process paused, overtaken by force, and woken",
  sort: "pause",
  needsProgress: true,
  weight: 6,
  excludes: [paused.name, pausedInTransaction.name],
  async disturb(round) {
    const { runner, place, random } = round;
    const wake = pause(round);
    if (wake === undefined) return undefined;
    const zombie = runner.life!;
    rmSync(statePaths(place.state).lease, { force: true });
    const other = runner.begin({});
    const before = await round.decided();
    await untilAsync(async () => (await round.decided()) > before || other.child.exitCode !== null);
    await wake();
    await sleep(random.below(2000));
    const [first, second] = random.below(2) === 0 ? [zombie, other] : [other, zombie];
    for (const one of [first, second]) {
      one.child.kill("SIGKILL");
      await one.finished;
      await sleep(random.below(500));
    }
    return over;
  },
};

const secondProcess: LocalKind = {
  name: "second process refused",
  sort: "more",
  weight: 2,
  excludes: [overtaken.name],
  async disturb({ runner }) {
    const holder = runner.life;
    const { code, stderr } = await runner.begin({ follow: false, wait: false }).finished;
    console.error("second", code, stderr, holder?.child.pid);
    // Whoever held the state may have ended just then, or not have begun.
    if (code !== 3 && code !== 0 && code !== 1) throw new Error(`a second process ended with code ${code}: ${stderr}`);
    return code === 3 && holder !== undefined ? over : undefined;
  },
};

const askedToEnd: LocalKind = {
  name: "process asked to end",
  sort: "more",
  weight: 3,
  excludes: [paused.name, pausedInTransaction.name],
  async disturb({ runner }) {
    const { life } = runner;
    if (life === undefined || !runner.signal("SIGTERM")) return undefined;
    return (await ended(life)) ? over : undefined;
  },
};

/** Undefined if there is none to pause. */
function pause({ runner }: LocalRound): (() => Promise<void>) | undefined {
  const { life } = runner;
  if (life === undefined || !runner.signal("SIGSTOP")) return undefined;
  return async () => void life.child.kill("SIGCONT");
}

/** Whether it ends before long. */
const ended = (life: Started): Promise<boolean> =>
  Promise.race([life.finished.then(() => true), sleep(patienceMs).then(() => false)]);

const until = (holds: () => boolean) => untilAsync(async () => holds());

/** Waits until it holds, but not for ever. */
async function untilAsync(holds: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await sleep(10))
    if (await holds()) return;
}

export const processKinds: readonly LocalKind[] = [
  killed,
  killedAsItStarts,
  killedAtCall,
  killedInTransaction,
  paused,
  pausedInTransaction,
  pausedPastTimeOut,
  overtaken,
  secondProcess,
  askedToEnd,
];
