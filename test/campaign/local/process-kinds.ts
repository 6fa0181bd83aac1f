import { setTimeout as sleep } from "node:timers/promises";
import type { Started } from "../../support/cli.ts";
import { type Kind, over } from "../disturbance.ts";
import { atRequest, transactionRequests } from "./kafka-requests.ts";
import type { LocalRound } from "./round.ts";
import { patienceMs, waitUntil } from "./wait-until.ts";

type LocalKind = Kind<LocalRound>;

/** A death "as it starts" comes so soon. */
const startMs = 600;
/** Calls of ports until a death at one; an epoch makes some dozens. */
const mostCalls = 300;

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
    await waitUntil(() => runner.life !== undefined && runner.life !== before);
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
    await waitUntil(() => runner.life !== undefined && runner.life !== before);
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

const secondProcess: LocalKind = {
  name: "second process refused",
  sort: "more",
  weight: 2,
  async disturb({ runner }) {
    const second = runner.begin({ wait: false });
    if (!(await ended(second))) {
      // Whoever held the state had ended just then. It must not close windows, so it is one that follows, too.
      second.child.kill("SIGKILL");
      await second.finished;
      return undefined;
    }
    const { code, stderr } = await second.finished;
    if (code !== 3 && code !== 0 && code !== 1) throw new Error(`a second process ended with code ${code}: ${stderr}`);
    return code === 3 ? over : undefined;
  },
};

const askedToEnd: LocalKind = {
  name: "process asked to end",
  sort: "more",
  weight: 3,
  needsProgress: true,
  async disturb({ runner }) {
    const { life } = runner;
    if (life === undefined || !runner.signal("SIGTERM")) return undefined;
    return (await ended(life)) ? over : undefined;
  },
};

/** Whether it ends before long. */
const ended = (life: Started): Promise<boolean> =>
  Promise.race([life.finished.then(() => true), sleep(patienceMs).then(() => false)]);

export const processKinds: readonly LocalKind[] = [
  killed,
  killedAsItStarts,
  killedAtCall,
  killedInTransaction,
  secondProcess,
  askedToEnd,
];
