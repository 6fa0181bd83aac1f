import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { statePaths } from "../../../local/compose.ts";
import { type Kind, over } from "../disturbance.ts";
import { atRequest, openRequests, transactionRequests } from "./kafka-requests.ts";
import type { LocalRound } from "./round.ts";
import { waitUntil } from "./wait-until.ts";

type LocalKind = Kind<LocalRound>;

/** Above the time-out of a transaction, and how often brokers look for those that are past it. */
const pastTimeOutMs = 63_000;

const commitsToKafka = ({ shape }: LocalRound) => Object.values(shape.sinks).includes("kafka");

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
  needsProgress: true,
  applies: commitsToKafka,
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
  async disturb(round) {
    let heal: ReturnType<typeof pause>;
    await atRequest(round.kafka!.proxy, openRequests[round.random.below(openRequests.length)]!, () => {
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
  async disturb(round) {
    const { runner, place, random } = round;
    const wake = pause(round);
    if (wake === undefined) return undefined;
    const zombie = runner.life!;
    rmSync(statePaths(place.state).lease, { force: true });
    const other = runner.begin({});
    const before = await round.decided();
    await waitUntil(async () => (await round.decided()) > before || other.child.exitCode !== null);
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

/** Undefined if there is none to pause. */
function pause({ runner }: LocalRound): (() => Promise<void>) | undefined {
  const { life } = runner;
  if (life === undefined || !runner.signal("SIGSTOP")) return undefined;
  return async () => void life.child.kill("SIGCONT");
}

export const pauseKinds: readonly LocalKind[] = [paused, pausedInTransaction, pausedPastTimeOut, overtaken];
