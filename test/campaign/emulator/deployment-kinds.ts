import { type Kind, over } from "../disturbance.ts";
import type { EmulatorRound } from "./round.ts";

type EmulatorKind = Kind<EmulatorRound>;

/** By the CDK's own command, while all goes on: some functions have the new code, others not yet. */
const newCode: EmulatorKind = {
  name: "new code deployed",
  sort: "more",
  weight: 2,
  applies: ({ deployments }) => deployments > 0,
  async disturb(round) {
    const deploying = round.deploy();
    deploying.catch(() => {}); // told when it is waited for
    return () => deploying;
  },
};

const otherPolicy: EmulatorKind = {
  name: "parallelism, size of epochs and fusion changed",
  sort: "more",
  weight: 4,
  excludes: [newCode.name],
  async disturb(round) {
    await round.changePolicy();
    return over;
  },
};

const pausedByCommand: EmulatorKind = {
  name: "paused by command",
  sort: "more",
  weight: 2,
  blocks: true,
  async disturb({ stack }) {
    await stack.ledger.setStatus("paused");
    return async () => {
      await stack.ledger.setStatus("running");
      await stack.wake();
    };
  },
};

export const deploymentKinds: readonly EmulatorKind[] = [newCode, otherPolicy, pausedByCommand];
