// What is explored: configurations of the protocol, the protocol without one of its fixes, and deliberate faults.
import * as A from "./coordination.ts";
import * as B from "./epoch.ts";
import type { Model } from "./explore.ts";

const a = (bounds: Partial<A.Bounds>, fixes: A.Fix[] = A.allFixes, mutant?: A.Mutant) =>
  A.coordination({ ...A.noFaults, ...bounds }, fixes, mutant) as Model<unknown>;
const b = (setup: Partial<B.Setup>, fixes: B.Fix[] = B.allFixes, mutant?: B.Mutant) =>
  B.epoch({ ...B.quiet, ...setup }, fixes, mutant) as Model<unknown>;

/** By name: what may happen, and how often. True gives the protocol, false its earlier wording. */
export const protocol: Record<string, (fixed: boolean) => Model<unknown>> = {};
/** Of model A. */
export const coordinations: Readonly<Record<string, Partial<A.Bounds>>> = {
  "A no faults, 3 records": { data: 3 },
  "A crashes": { data: 2, crashes: 2 },
  "A crashes, DescribeExecution lags": { data: 2, crashes: 1, describeLag: true },
  "A failing and repeated starts": { data: 2, startFailures: 2, repeats: 1 },
  "A failing starts and a crash": { data: 1, startFailures: 3, crashes: 1 },
  "A hand-over, retry, zombie, crash": { data: 1, handOvers: 1, retries: 1, zombies: 1, crashes: 1 },
  "A retry, zombie, crash": { data: 2, retries: 1, zombies: 1, crashes: 1 },
  "A open transactions, crash": { data: 2, openTransactions: true, crashes: 1 },
  "A failing commits": { data: 2, commitFailures: 2, crashes: 1 },
  "A stop and resume": { data: 1, stops: 1 },
  "A stop and resume, 2 records, repeated trigger": { data: 2, stops: 1, repeats: 1 },
  "A stop and resume, 2 records, retry, zombie": { data: 2, stops: 1, retries: 1, zombies: 1 },
  "A stop, resume, crash, lag": { data: 1, stops: 1, crashes: 1, describeLag: true },
  "A window waits for an idle partition": { data: 1, idleWindow: true },
  "A the same, with a crash": { data: 1, idleWindow: true, crashes: 1 },
  "A everything, 1 record": {
    data: 1,
    crashes: 1,
    retries: 1,
    zombies: 1,
    startFailures: 1,
    handOvers: 1,
    describeLag: true,
    openTransactions: true,
  },
};
/** Of model B. */
export const epochs: Readonly<Record<string, Partial<B.Setup>>> = {
  "B files, no faults": { files: true, tasks: 2, records: 3 },
  "B files, crash, zombie": { files: true, crashes: 1, zombies: 1 },
  "B files, 2 tasks, duplicate, lost answer": { files: true, records: 1, tasks: 2, duplicates: 1, lostAnswers: 1 },
  "B files, 2 tasks, failure, zombie": { files: true, records: 1, tasks: 2, failures: 1, zombies: 1 },
  "B files, duplicate, failure, zombie": { files: true, records: 1, duplicates: 1, failures: 1, zombies: 1 },
  "B files, lost answers, failure, zombie": { files: true, lostAnswers: 1, failures: 1, zombies: 1 },
  "B files, index files, zombie": { files: true, roll: true, zombies: 1 },
  "B smaller range after a time-out": { step: 2, failures: 2, zombies: 1 },
  "B lane, crash, zombie, transaction time-out": { lane: true, crashes: 1, zombies: 1, transactionTimeouts: 1 },
  "B lane, 3 epochs, one silent, zombie": { lane: true, records: 3, silent: [1], zombies: 1 },
  "B lane, overlap, zombie": { lane: true, overlap: true, zombies: 1 },
  "B lane, warm producer, zombie": { lane: true, warm: true, records: 3, zombies: 1 },
  "B lane, warm, zombie, crash, time-out": { lane: true, warm: true, zombies: 1, crashes: 1, transactionTimeouts: 1 },
  "B lane, weeks": { lane: true, weeks: 2, crashes: 1, zombies: 1 },
  "B lane, Kafka loses data": { lane: true, records: 3, losses: 1, crashes: 1 },
  "B lane, ledger from a backup": { lane: true, backups: 1, crashes: 1 },
  "B lane, abandon, zombie": { lane: true, abandons: 1, zombies: 1 },
  "B lane, abandon, overlap, crash": { lane: true, overlap: true, abandons: 1, crashes: 1 },
  "B both sinks, overlap, zombie": { files: true, lane: true, overlap: true, zombies: 1 },
  "B restore, both sinks, zombie": { files: true, lane: true, restores: 1, zombies: 1 },
  "B restore over a planned epoch, failure, zombie": { records: 3, restores: 1, failures: 1, zombies: 1 },
  "B restore over a planned epoch, lane, lost decide": { records: 3, lane: true, restores: 1, lostAnswers: 1 },
  "B restore, collector, crash": { restores: 1, sweeps: 1, crashes: 1 },
  "B collector, 3 epochs, zombie": { records: 3, sweeps: 1, zombies: 1 },
  "B collector, files, failure, zombie": { files: true, sweeps: 1, failures: 1, zombies: 1 },
  "B collector, lane, zombie": { lane: true, sweeps: 1, zombies: 1 },
  "B collector, lane, overlap, crash": { lane: true, overlap: true, sweeps: 1, crashes: 1 },
};
for (const [name, bounds] of Object.entries(coordinations))
  protocol[name] = (fixed) => a(bounds, fixed ? A.allFixes : []);
for (const [name, setup] of Object.entries(epochs)) protocol[name] = (fixed) => b(setup, fixed ? B.allFixes : []);

/** The protocol without one of its fixes: each must break. */
export const without: Record<string, Model<unknown>> = {};
const withoutA = (fix: A.Fix, bounds: Partial<A.Bounds>) => {
  without[`A without ${fix}`] = a(
    bounds,
    A.allFixes.filter((one) => one !== fix),
  );
};
const withoutB = (fix: B.Fix, setup: Partial<B.Setup>) => {
  without[`B without ${fix}`] = b(
    setup,
    B.allFixes.filter((one) => one !== fix),
  );
};
withoutA("grant", { data: 2, retries: 1, zombies: 1, crashes: 1 });
withoutA("proof", { data: 1, crashes: 1, describeLag: true });
withoutA("queue", { data: 1, startFailures: 3, crashes: 1 });
withoutA("stoppedGoesIdle", { data: 1, stops: 1 });
withoutA("waitForIdle", { data: 1, idleWindow: true });
withoutA("flushWhenAllIdle", { data: 1, idleWindow: true });
withoutB("alwaysFresh", { lane: true, weeks: 1, crashes: 1 });
withoutB("absentOnlyIfExpired", { lane: true, losses: 1 });
withoutB("warmIsTaken", { lane: true, warm: true, zombies: 1 });
withoutB("rowAfterInit", { lane: true, abandons: 1 });
withoutB("abandonFences", { lane: true, abandons: 1 });
withoutB("lookThroughAbandoned", { lane: true, abandons: 1 });
withoutB("indexIsImmutable", { files: true, roll: true, zombies: 1 });

/** Deliberate faults, each beside the same configuration without it: that one holds, and the fault breaks it. */
export const mutants: Record<string, { right: Model<unknown>; wrong: Model<unknown> }> = {};
const mutantA = (mutant: A.Mutant, bounds: Partial<A.Bounds> = {}, fixes = A.allFixes) => {
  mutants[`A ${mutant}`] = { right: a(bounds, fixes), wrong: a(bounds, fixes, mutant) };
};
const mutantB = (mutant: B.Mutant, setup: Partial<B.Setup>) => {
  mutants[`B ${mutant}`] = { right: b(setup), wrong: b(setup, B.allFixes, mutant) };
};
mutantA("wakeReadAfterOffsets", { data: 2 });
mutantA("idleInTwoWrites", { data: 2 });
mutantA("idleIgnoresWake", { data: 2 });
mutantA("leaseReadBeforeIncrement", { data: 2 });
mutantA("leasePassedInTwoWrites", { handOvers: 1, retries: 1 });
mutantA("missingOwnerNotStarted", { handOvers: 1, retries: 1 });
mutantA("idleWhileTransactionOpen", { openTransactions: true });
mutantA("triggerForgetsFailedStart", { startFailures: 1 });
mutantA("planWithoutOwner", { data: 2, retries: 1, zombies: 1, crashes: 1 });
mutantA("noRule", { crashes: 1 });
mutantA("usedNameCountsAsStarted", { crashes: 2 }, []);
mutantA("resumeWakesFirst", { stops: 1 });
mutantA("idleWithUncommitted", { commitFailures: 1 });
mutantB("abortDeletesFirst", { files: true, records: 1, lostAnswers: 1 });
mutantB("abortIgnoresDecided", { files: true, records: 1, lostAnswers: 1 });
mutantB("noNonce", { files: true, records: 1, duplicates: 1 });
mutantB("rowsWithoutAttempt", { files: true, records: 1, failures: 1, zombies: 1 });
mutantB("secondAckOverwrites", { files: true, records: 1, duplicates: 1 });
mutantB("ackRetryIsLoser", { files: true, records: 1, lostAnswers: 1 });
mutantB("decideWithoutAttempt", { records: 1, failures: 1, lostAnswers: 1 });
mutantB("decideWithoutAcks", { records: 1, tasks: 2 });
mutantB("replanReadsEndAgain", { failures: 1 });
mutantB("numbersGoBack", { lane: true, restores: 1 });
mutantB("commitWithoutOrder", { files: true, overlap: true, zombies: 1 });
mutantB("committedWithoutRows", { files: true, records: 1 });
mutantB("rowBeforeEffect", { files: true, records: 1, crashes: 1 });
mutantB("renameMissingIsLoss", { files: true, records: 1, duplicates: 1 });
mutantB("markerBeforeInit", { lane: true, records: 1, zombies: 1 });
mutantB("noInit", { lane: true, records: 1, zombies: 1 });
mutantB("noPreviousCheck", { lane: true, losses: 1 });
mutantB("noTokenCheck", { lane: true, backups: 1 });
mutantB("warmWithoutPrevious", { lane: true, warm: true, records: 3, zombies: 1 });
mutantB("collectorListsFirst", { sweeps: 1 });
mutantB("collectorDeletesAbove", { records: 1, sweeps: 1, failures: 1 });
mutantB("collectorIgnoresPins", { sweeps: 1, restores: 1 });
mutantB("collectorTrustsDecided", { files: true, records: 1, sweeps: 1 });
mutantB("zombieMayStop", { files: true, sweeps: 1, duplicates: 1 });

/** What a row of the figures in README.md is about, by its name. */
export function configuration(name: string): Model<unknown> | undefined {
  const earlier = name.endsWith(EARLIER);
  const plain = earlier ? name.slice(0, -EARLIER.length) : name;
  return protocol[plain]?.(!earlier) ?? without[name] ?? mutants[name]?.wrong;
}
/** Ends the name of a configuration that is explored as an earlier wording of the protocol had it. */
export const EARLIER = ": earlier wording";
