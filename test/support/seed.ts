import { randomInt } from "node:crypto";
import type { TestContext } from "node:test";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";

/** Chance that can be had again: `EPOCHFLOW_TEST_SEED`, or another seed each time, which the test prints. */
export function seededRandom(context: TestContext): SeededRandom {
  const seed = Number(process.env.EPOCHFLOW_TEST_SEED ?? randomInt(2 ** 31));
  context.diagnostic(`seed: EPOCHFLOW_TEST_SEED=${seed}`);
  return new SeededRandom(seed);
}
