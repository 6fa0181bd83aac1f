import assert from "node:assert/strict";
import { SeededRandom } from "../../adapters/memory/random.ts";
import type { EpochRow } from "../../epoch/epoch.ts";
import type { Ledger } from "../../ports/ledger.ts";
import { ackOf, attemptPlan, begin, decisionOf, failureOf, planOf, planWrite, unitOf } from "./examples.ts";
import type { Check } from "./harness.ts";
import { Watch } from "./watch.ts";

const width = 3;

export interface RandomLives {
  /** How many there are; 3 by default. */
  readonly lives?: number;
  /** How long one is, in batches of three verbs at once; 400 by default. */
  readonly lifeLength?: number;
}

/** Verbs of anybody, in any order, from two connections at once, with what they read a moment ago: zombies, retries, and owners of lost leases. */
export function randomWalkSuite(check: Check, { lives = 3, lifeLength: batches = 400 }: RandomLives): void {
  for (let seed = 1; seed <= lives; seed++)
    check(`I1 to I5 hold at every step of a random life (seed ${seed})`, async (ledger, another) => {
      const random = new SeededRandom(seed);
      const ledgers = [ledger, await another()];
      const watch = new Watch();
      await begin(ledger);
      for (let batch = 0; batch < batches; batch++) {
        const steps = Array.from({ length: width }, () => everything[random.below(everything.length)]!);
        await Promise.all(steps.map((step, index) => step(ledgers[index % 2]!, random, watch)));
        await watch.look(ledger);
      }
      const least = Math.floor(batches / 80);
      assert(
        watch.decided >= least && watch.committed >= least,
        `a life of ${watch.decided} decided and ${watch.committed} committed epochs`,
      );
    });
}

type Step = (ledger: Ledger, random: SeededRandom, watch: Watch) => Promise<unknown>;

const current = async (ledger: Ledger): Promise<{ epoch: number; row: EpochRow | undefined }> => {
  const epoch = (await ledger.head())!.decided + 1;
  return { epoch, row: await ledger.epoch(epoch) };
};
/** The last attempt of the epoch that is not decided yet, or sometimes an older one. */
const someAttempt = async (ledger: Ledger, random: SeededRandom) => {
  const { epoch, row } = await current(ledger);
  const attempt = row?.attempt ?? 1;
  return { epoch, attempt: random.below(4) > 0 ? attempt : 1 + random.below(attempt) };
};
const positionBefore = async (ledger: Ledger, epoch: number) => {
  const last = await ledger.epoch(epoch - 1);
  return last?.status === "decided" ? last.decision.partitions[0]!.position : 0;
};

const plan: Step = async (ledger) => {
  const { epoch, row } = await current(ledger);
  const { owner } = await ledger.wake();
  const from = await positionBefore(ledger, epoch);
  const fresh = planOf(epoch, { from, to: from + 10 });
  await ledger.plan(planWrite(epoch, { owner: owner ?? 1, seen: row?.attempt ?? null, plan: row?.plan ?? fresh }));
};
const ack: Step = async (ledger, random) =>
  ledger.ack(await someAttempt(ledger, random), ackOf(random.nonce(), { task: random.below(2) }), random.below(2) > 0);
const confirm: Step = async (ledger, random) =>
  ledger.confirm(await someAttempt(ledger, random), { stage: 0, task: random.below(2) }, ["out"]);
const decide: Step = async (ledger, random) => {
  const id = await someAttempt(ledger, random);
  const row = await ledger.epoch(id.epoch);
  const units = [[], [unitOf("0")], [unitOf("0"), unitOf("1")]][random.below(3)]!;
  const position = row?.plan.partitions[0]?.to ?? 0;
  const decision = await decisionOf(ledger, id.epoch, { units, position, token: random.nonce() });
  await ledger.decide(id, { decision, units, ackCount: 2 });
};
/** Without a second phase: of acks that are all there, or of a fenced attempt. */
const decideAtOnce: Step = async (ledger, random) => {
  const id = await someAttempt(ledger, random);
  const head = await ledger.head();
  if (head!.committed < head!.decided) return;
  const position = (await ledger.epoch(id.epoch))?.plan.partitions[0]?.to ?? 0;
  const decision = await decisionOf(ledger, id.epoch, { units: [], position, token: random.nonce() });
  const write = { decision, units: [], ackCount: 1 + random.below(2), committed: true };
  await (random.below(2) === 0 ? ledger.decide(id, write) : ledger.lose(id, write)).catch(ignoreRace);
};
/** Another has decided an epoch meanwhile, which waits for its commit. */
const ignoreRace = (error: { code?: string }): void => {
  if (error.code !== "invariant-I4") throw error;
};
const fence: Step = async (ledger, random) => ledger.fence(await someAttempt(ledger, random), failureOf());
const fail: Step = async (ledger, random) => ledger.fail(await someAttempt(ledger, random), failureOf());
const restore: Step = async (ledger, random) => {
  const { epoch, row } = await current(ledger);
  const position = await positionBefore(ledger, 1 + random.below(epoch));
  const decision = await decisionOf(ledger, epoch, { kind: "restore", units: [], position, token: random.nonce() });
  const rest = { plan: planOf(epoch), attemptPlan, fingerprint: "f", now: 1 };
  if (random.below(4) === 0) await ledger.restore({ epoch, seen: row?.attempt ?? null, decision, ...rest });
};

const waiting = async (ledger: Ledger) => (await ledger.head())!.committed + 1;
const commitUnit: Step = async (ledger, random) =>
  ledger.commitUnit(await waiting(ledger), "out", String(random.below(2)));
const commit: Step = async (ledger, random) => ledger.commit((await waiting(ledger)) + random.below(2), 1);
const abandon: Step = async (ledger, random) =>
  random.below(4) === 0 && ledger.abandonUnit(await waiting(ledger), "out", "0");

const increment: Step = async (ledger, random, watch) => {
  watch.increments++;
  const { owner } = await ledger.wake();
  await ledger.increment(random.below(2) === 0 ? owner : null);
};
const grant: Step = async (ledger) => ledger.grant(await ledger.wake());
const handOver: Step = async (ledger) => ledger.handOver((await ledger.wake()).owner ?? 1);
const release: Step = async (ledger) => {
  const { owner, sequence } = await ledger.wake();
  await ledger.release(owner ?? 1, sequence);
};

const setStatus: Step = async (ledger, random) => ledger.setStatus(random.below(4) === 0 ? "paused" : "running");
const stop: Step = async (ledger, random) => {
  const attempt = await someAttempt(ledger, random);
  if (random.below(4) === 0) await ledger.stop(failureOf().error, { attempt });
};
const someEpoch = async (ledger: Ledger, random: SeededRandom) => 1 + random.below((await ledger.head())!.decided + 1);
const drop: Step = async (ledger, random) =>
  ledger.drop([await someEpoch(ledger, random), await someEpoch(ledger, random)]);
const pin: Step = async (ledger, random) => ledger.pin(await someEpoch(ledger, random), "save");
const unpin: Step = async (ledger, random) => ledger.unpin(await someEpoch(ledger, random), "save");
const trim: Step = async (ledger, random) => {
  const detailsFrom = await someEpoch(ledger, random);
  await ledger.trim({ detailsFrom, epochsFrom: random.below(detailsFrom + 1) });
};

/** More of what makes a life go on. */
const everything: readonly Step[] = [
  [plan, plan, ack, ack, ack, decide, decide, commitUnit, commitUnit, commit, commit, grant],
  [
    fence,
    fail,
    restore,
    abandon,
    increment,
    handOver,
    release,
    setStatus,
    setStatus,
    stop,
    drop,
    pin,
    unpin,
    trim,
    confirm,
    decideAtOnce,
  ],
].flat();
