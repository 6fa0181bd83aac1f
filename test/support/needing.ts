import * as runner from "node:test";
import { findChromium } from "./chromium.ts";
import { pickLauncher as pickEmulator } from "./emulator/launcher.ts";
import { pickLauncher as pickBroker } from "./kafka/launcher.ts";
import { kafkaVersions } from "./kafka/versions.ts";
import { lacksServer } from "./postgres/server.ts";

/** Undefined where it can be had; else why not, and what to install. */
export type Need = () => Promise<string | undefined>;

export const anEmulator: Need = async () => textOf(await pickEmulator(false));

/** One whose functions reach servers of this machine. */
export const anEmulatorBesideUs: Need = async () => textOf(await pickEmulator(true));

export const aBroker: Need = async () => {
  for (const version of kafkaVersions) {
    const reason = textOf(await pickBroker(version));
    if (reason !== undefined) return reason;
  }
  return undefined;
};

export const aPostgresServer: Need = async () => lacksServer();

export const aChromium: Need = async () =>
  findChromium() === undefined
    ? "Needs Chromium: on Debian `apt-get install chromium`; EPOCHFLOW_CHROMIUM names one that is elsewhere."
    : undefined;

const textOf = (picked: unknown) => (typeof picked === "string" ? picked : undefined);

/**
 * `node:test` for a file that needs something which not every machine can start: where it cannot be had, all tests and suites of the file are skipped by
 * name, with what to install. In CI they run, and fail.
 */
export async function needing(...needs: readonly Need[]): Promise<typeof runner> {
  if (process.env.CI) return runner;
  const reasons = (await Promise.all(needs.map((need) => need()))).filter((reason) => reason !== undefined);
  if (reasons.length === 0) return runner;
  const skip = reasons.join(" ");
  const test = ((name: string) => runner.test(name, { skip })) as typeof runner.test;
  const suite = ((name: string) => runner.suite(name, { skip })) as typeof runner.suite;
  const none = () => {};
  return {
    ...runner,
    test,
    it: test,
    suite,
    describe: suite,
    before: none,
    after: none,
    beforeEach: none,
    afterEach: none,
  };
}
