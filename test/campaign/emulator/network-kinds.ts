import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../../support/emulator/fault-proxy.ts";
import { answerLost, brokerKilled, usesKafka } from "../broker-kinds.ts";
import { type Kind, over } from "../disturbance.ts";
import type { EmulatorRound } from "./round.ts";

type EmulatorKind = Kind<EmulatorRound>;

const patienceMs = 2500;

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

const killed: EmulatorKind = { ...brokerKilled, weight: 3, applies: usesKafka };

export const networkKinds: readonly EmulatorKind[] = [
  requestReset("request to AWS reset before its effect", "reset"),
  requestReset("request to AWS reset after its effect", "late reset"),
  requestReset("answer of AWS cut off, its socket reset", "cut"),
  socketsReset,
  answerLost("answer of the broker lost, its socket reset"),
  killed,
];
