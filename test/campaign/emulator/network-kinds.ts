import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../../support/emulator/fault-proxy.ts";
import { type Kind, over } from "../disturbance.ts";
import { isDropped } from "../local/network-kinds.ts";
import type { EmulatorRound } from "./round.ts";

type EmulatorKind = Kind<EmulatorRound>;

const patienceMs = 2500;

const usesKafka = ({ kafka }: EmulatorRound) => kafka !== undefined;

/** The next request of a function to a table, a bucket or Step Functions. */
function requestReset(name: string, fault: Fault): EmulatorKind {
  return {
    name,
    sort: "reset",
    weight: 5,
    async disturb({ stack, disturber }) {
      const proxy = stack.proxies[disturber.busyFunction()];
      const before = proxy.counts[fault] ?? 0;
      let isMeant = true;
      proxy.inject(fault, () => isMeant);
      for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await sleep(20))
        if ((proxy.counts[fault] ?? 0) > before) return over;
      isMeant = false;
      return undefined;
    },
  };
}

const socketsReset: EmulatorKind = {
  name: "sockets to the broker reset",
  sort: "reset",
  weight: 8,
  applies: usesKafka,
  async disturb({ kafka }) {
    const { proxy } = kafka!;
    for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await sleep(20)) {
      if (proxy.connections === 0) continue;
      proxy.reset();
      return over;
    }
    return undefined;
  },
};

const answerLost: EmulatorKind = {
  name: "answer of the broker lost, its socket reset",
  sort: "reset",
  weight: 6,
  applies: usesKafka,
  disturb: async ({ kafka }) => ((await isDropped(kafka!, "reset")) ? over : undefined),
};

const brokerKilled: EmulatorKind = {
  name: "broker killed",
  sort: "kill",
  weight: 3,
  blocks: true,
  applies: usesKafka,
  async disturb({ kafka }) {
    await kafka!.broker.kill();
    kafka!.isDown = true;
    return async () => {
      await kafka!.broker.restart();
      kafka!.isDown = false;
    };
  },
};

export const networkKinds: readonly EmulatorKind[] = [
  requestReset("request to AWS reset before its effect", "reset"),
  requestReset("request to AWS reset after its effect", "late reset"),
  requestReset("answer of AWS cut off, its socket reset", "cut"),
  socketsReset,
  answerLost,
  brokerKilled,
];
