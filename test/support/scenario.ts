import type { Handlers } from "../../local/machine.ts";
import type { Internals } from "../../local/session.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import type { EpochPlan } from "../../shared/epoch/epoch.ts";
import { sliding, UserCodeError } from "../../shared/index.ts";
import type { Source } from "../../shared/ports/source.ts";
import { differences, temporaryFolder } from "./folder.ts";
import { mapHandlers } from "./handlers.ts";
import { leftovers, readOutput } from "./inspect.ts";
import { copyOf } from "./ports.ts";
import { type Input, type Job, line, sinks, Workplace } from "./readings.ts";

/**
 * A small run that has everything: two partitions, shuffled and fused epochs, several executions, attempts that fail, windows that overlap, updates of
 * fired windows, late records, dead letters, sinks in both stages.
 */
const job: Job = { window: sliding({ size: 20, every: 10 }), allowedLateness: 10, outOfOrder: 5, expireAfter: 30 };
const options = { epochRecords: 10, retain: 2, parallelism: 2 };
/** Of three epochs, about (`eventsOfRound`). */
const eventBudget = 600;

const scenario: Input = { "a.txt": readings(1, 34), "b.txt": readings(2, 30) };

function readings(seed: number, count: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    if (random.below(12) === 0) return "no reading";
    const behind = random.below(6) === 0 ? random.below(60) : random.below(8);
    return line({ time: 100 + 4 * index - behind, key: `key-${random.below(5)}`, value: random.below(1000) / 8 });
  });
}

/** From 1 to 3, and the same for every attempt: so an epoch's files are the same, too. */
function chooseTasks({ partitions }: EpochPlan, stages: number): number[] {
  const position = partitions.reduce((sum, { to }) => sum + to, 0);
  return Array.from({ length: stages }, (_, stage) => 1 + ((position + 5 * stage) % 3));
}

type Trees = ReadonlyMap<string, ReadonlyMap<string, Buffer>>;

/** Where the scenario takes place: with its input, if there is none yet. */
export const placeIn = (folder: string, input: Input = {}): Workplace => new Workplace(folder, job, input);

/** One run in what counts as a process of its own. Tells how it ended. */
export async function runIn(place: Workplace, internals: Internals): Promise<string> {
  try {
    const { outcome, error } = await place.run(options, { chooseTasks, ...quick(internals) });
    return error ? `${outcome}: ${error.message}` : outcome;
  } catch (error) {
    return String(error);
  }
}

export interface Result {
  readonly trees: Trees;
  /** What the collector should have taken. */
  readonly left: readonly string[];
  /** How the runs ended. */
  readonly outcomes: readonly string[];
}

/** Runs the scenario in a folder of its own, as often as there are `processes`, one after the other. */
export async function runScenario(...processes: readonly ((place: Workplace) => Promise<string>)[]): Promise<Result> {
  using folder = temporaryFolder();
  const place = placeIn(folder.path, scenario);
  const outcomes: string[] = [];
  for (const process of processes) outcomes.push(await process(place));
  const outputs = sinks.map((sink) => place.output(sink));
  const trees = new Map(sinks.map((sink) => [sink, readOutput(place.output(sink))]));
  return { trees, left: await leftovers(place.state, outputs), outcomes };
}

/** A process of the scenario in which nothing goes wrong that does not go wrong in any case. */
export const undisturbed = (place: Workplace): Promise<string> => runIn(place, {});

/** Nobody is to wait for a back-off; executions end early, so that there are several; and some attempts go wrong in any case. */
function quick(internals: Internals): Internals {
  return {
    engine: (engine) => {
      const policy = { ...engine.policy, backOffMs: 1, eventBudget };
      const hasty = { ...engine, policy, source: failingOnce(engine.source) };
      return internals.engine?.(hasty) ?? hasty;
    },
    handlers: (handlers) => internals.handlers?.(givingUpOnce(handlers)) ?? givingUpOnce(handlers),
  };
}

/** A task fails, half way. */
function failingOnce(source: Source): Source {
  let failed = false;
  return {
    ...copyOf(source),
    async *read(range, signal) {
      yield* source.read(range, signal);
      if (failed || range.id !== "b.txt" || range.from < 100) return;
      failed = true;
      throw new UserCodeError("injected", "the function failed on purpose");
    },
  };
}

/** An attempt is given up whose tasks have all acknowledged: there is something to abort. */
function givingUpOnce(handlers: Handlers): Handlers {
  const given = { epoch: 2, attempt: 1 };
  return mapHandlers(handlers, (state, handler) => async (input) => {
    const { epoch, attempt } = input as { epoch?: number; attempt?: number };
    const isVictim = state === "Decide" && epoch === given.epoch && attempt === given.attempt;
    return isVictim ? { outcome: "incomplete" } : await handler(input);
  });
}

/**
 * What is wrong with a result, the last run of which nobody disturbed: output that is not the expected one byte for byte, anything that the collector
 * should have taken, or should not.
 */
export function problemsOf({ trees, left, outcomes }: Result, expected: Trees): string[] {
  const outcome = outcomes.at(-1)!;
  const ended = outcome === "done" || outcome === "nothing-new" ? [] : [`the last run ended with: ${outcome}`];
  const differing = [...trees].flatMap(([sink, tree]) =>
    differences(tree, expected.get(sink)!).map((difference) => `sink ${sink}: ${difference}`),
  );
  return [...ended, ...differing, ...left];
}
