import { setTimeout as sleep } from "node:timers/promises";
import { StopExecutionCommand } from "@aws-sdk/client-sfn";
import { type Disturbance, disturbances } from "../../support/aws/disturber.ts";
import { isSent, signalWorkers } from "../../support/aws/workers.ts";
import type { Kind, Sort } from "../disturbance.ts";
import { over } from "../disturbance.ts";
import type { EmulatorRound } from "./round.ts";

type EmulatorKind = Kind<EmulatorRound>;

/** How long a function is waited for. */
const patienceMs = 2500;
const mostFrozenMs = 2500;
/** How long whoever has overtaken a frozen function is given to decide something. */
const overtakeMs = 8000;

const sorts: Partial<Record<Disturbance, Sort>> = {
  "death before an effect": "kill",
  "death after an effect": "kill",
  "death at any moment": "kill",
};
const weights: Partial<Record<Disturbance, number>> = {
  "death before an effect": 12,
  "death after an effect": 12,
  "death at any moment": 12,
  "execution stopped": 6,
  "out of time": 2,
  throttled: 2,
};

export const sortOf = (what: Disturbance): Sort => sorts[what] ?? "more";

/** It comes about later, or not at all: the disturber counts it then. */
const byDisturber = disturbances.map(
  (what): EmulatorKind => ({
    name: what,
    sort: sortOf(what),
    weight: weights[what] ?? 3,
    ...(what === "throttled" || what === "out of time" ? { excludes: ["new code deployed"] } : {}),
    async disturb({ disturber }) {
      await disturber.disturb(what);
      return "later";
    },
  }),
);

/** The processes of a function, in the middle of its work, until somebody wakes them. Undefined: it was not invoked. */
async function freeze({ stack, disturber }: EmulatorRound): Promise<(() => void) | undefined> {
  const name = disturber.busyFunction();
  const { promise, resolve } = Promise.withResolvers<number[]>();
  let isWaitedFor = true;
  const stop = () => {
    // Later nobody would wake it.
    if (isWaitedFor) resolve(signalWorkers(stack.emulator.pid, stack.functions.nameOf(name), "SIGSTOP"));
  };
  disturber.atRequest(name, stop);
  const timer = setTimeout(() => {
    isWaitedFor = false;
    resolve([]);
  }, patienceMs);
  const pids = await promise;
  clearTimeout(timer);
  if (pids.length === 0) return undefined;
  return () => {
    for (const pid of pids) isSent(pid, "SIGCONT");
  };
}

/** As Lambda freezes what nobody waits for. */
const frozen: EmulatorKind = {
  name: "function frozen",
  sort: "pause",
  weight: 10,
  async disturb(round) {
    const thaw = await freeze(round);
    if (thaw === undefined) return undefined;
    await sleep(round.random.below(mostFrozenMs));
    thaw();
    return over;
  },
};

/** Its execution is stopped, another one takes over, with another attempt; then the function goes on where it was. */
const overtaken: EmulatorKind = {
  name: "function frozen, overtaken, and thawed",
  sort: "pause",
  weight: 8,
  needsProgress: true,
  async disturb(round) {
    const { stack } = round;
    const thaw = await freeze(round);
    if (thaw === undefined) return undefined;
    try {
      for (const { executionArn, status } of await stack.executions())
        if (status === "RUNNING")
          await stack.clients.sfn.send(new StopExecutionCommand({ executionArn })).catch(() => {});
      await stack.wake();
      const before = await round.decided();
      for (const giveUpAt = performance.now() + overtakeMs; performance.now() < giveUpAt; await sleep(50))
        if ((await round.decided()) > before) break;
    } finally {
      thaw();
    }
    return over;
  },
};

export const functionKinds: readonly EmulatorKind[] = [...byDisturber, frozen, overtaken];
