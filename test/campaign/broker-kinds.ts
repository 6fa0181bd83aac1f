import { setTimeout as sleep } from "node:timers/promises";
import { type Kind, over } from "./disturbance.ts";
import type { KafkaWorld } from "./local/world.ts";

/** A round whose pipeline may read or write topics. */
interface KafkaRound {
  readonly kafka: KafkaWorld | undefined;
}

/** How long an answer is waited for. */
const patienceMs = 2000;

export const usesKafka = ({ kafka }: KafkaRound): boolean => kafka !== undefined;

/** Whether an answer came, and got lost. */
export async function isDropped({ proxy }: KafkaWorld, then: "reset" | "silence"): Promise<boolean> {
  const dropped = proxy.dropNext(then).then(() => true);
  if (await Promise.race([dropped, sleep(patienceMs).then(() => false)])) return true;
  proxy.spareNext();
  return false;
}

export const answerLost = (name: string): Kind<KafkaRound> => ({
  name,
  sort: "reset",
  weight: 6,
  applies: usesKafka,
  disturb: async ({ kafka }) => ((await isDropped(kafka!, "reset")) ? over : undefined),
});

/** SIGKILL; healed by starting it again. */
export const brokerKilled: Omit<Kind<KafkaRound>, "weight" | "applies"> = {
  name: "broker killed",
  sort: "kill",
  blocks: true,
  async disturb({ kafka }) {
    await kafka!.broker.kill();
    kafka!.isDown = true;
    return async () => {
      await kafka!.broker.restart();
      kafka!.isDown = false;
    };
  },
};
