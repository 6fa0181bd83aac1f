import { setTimeout as sleep } from "node:timers/promises";
import { answerLost, brokerKilled, isDropped, usesKafka } from "../broker-kinds.ts";
import { type Kind, over } from "../disturbance.ts";
import { atRequest } from "./kafka-requests.ts";
import type { LocalRound } from "./round.ts";

type LocalKind = Kind<LocalRound>;

const mayBreak = ({ kafka }: LocalRound) => kafka?.mayBreak ?? false;
const commitsToKafka = ({ shape }: LocalRound) => Object.values(shape.sinks).includes("kafka");

const reset: LocalKind = {
  name: "sockets reset",
  sort: "reset",
  weight: 14,
  applies: usesKafka,
  async disturb({ kafka }) {
    const { proxy } = kafka!;
    if (proxy.connections === 0) return undefined;
    proxy.reset();
    return over;
  },
};

const endUnanswered: LocalKind = {
  name: "end of a transaction: answer lost, socket reset",
  sort: "reset",
  needsProgress: true,
  weight: 8,
  applies: commitsToKafka,
  async disturb({ kafka }) {
    const { proxy } = kafka!;
    return (await atRequest(proxy, "endTransaction", () => void proxy.dropNext("reset"))) ? over : undefined;
  },
};

/** A socket that died without a word: it is reset by and by. */
const silentSocket: LocalKind = {
  name: "answer of a broker lost, its socket silent, then reset",
  sort: "reset",
  weight: 4,
  applies: usesKafka,
  async disturb({ kafka }) {
    return (await isDropped(kafka!, "silence")) ? async () => kafka!.proxy.reset() : undefined;
  },
};

const silence: LocalKind = {
  name: "network silent",
  sort: "more",
  blocks: true,
  weight: 4,
  applies: usesKafka,
  async disturb({ kafka, random }) {
    const { proxy } = kafka!;
    proxy.stall();
    await sleep(random.below(1500));
    return async () => proxy.resume();
  },
};

const killed: LocalKind = { ...brokerKilled, weight: 4, applies: mayBreak };

const brokerRestarted: LocalKind = {
  name: "broker restarted",
  sort: "more",
  weight: 2,
  applies: mayBreak,
  excludes: [killed.name],
  async disturb({ kafka }) {
    await kafka!.broker.restart();
    return over;
  },
};

/** Of somebody else, in the topic that is read: what comes after it waits. */
const foreignTransaction: LocalKind = {
  name: "foreign transaction open",
  sort: "more",
  blocks: true,
  weight: 3,
  applies: ({ shape }) => shape.source === "kafka",
  excludes: [killed.name, brokerRestarted.name],
  async disturb({ place }) {
    const close = await place.openTransaction();
    return close;
  },
};

export const networkKinds: readonly LocalKind[] = [
  reset,
  answerLost("answer of a broker lost, its socket reset"),
  endUnanswered,
  silentSocket,
  silence,
  killed,
  brokerRestarted,
  foreignTransaction,
];
