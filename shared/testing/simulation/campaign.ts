import { type Outcome, type Subject, simulate } from "./simulate.ts";

/** What many seeds came to. */
export interface Campaign {
  readonly firstSeed: number;
  readonly runs: number;
  readonly steps: number;
  readonly epochs: number;
  /** Faults that were injected, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** How often each state of the protocol was reached. */
  readonly states: ReadonlyMap<string, number>;
  /** The first run that broke something. */
  readonly failing: Outcome | undefined;
}

interface CampaignOptions {
  readonly firstSeed: number;
  /** Called after each run: whether there is to be another. */
  goesOn(runs: number): boolean;
}

/** Runs one seed after the other, until told to stop or until one breaks something. */
export async function runCampaign(subject: Subject, { firstSeed, goesOn }: CampaignOptions): Promise<Campaign> {
  const total = { runs: 0, steps: 0, epochs: 0 };
  const faults = new Map<string, number>();
  const states = new Map<string, number>();
  let failing: Outcome | undefined;
  do {
    const outcome = await simulate(subject, { seed: firstSeed + total.runs });
    total.runs++;
    total.steps += outcome.steps;
    total.epochs += outcome.epochs;
    for (const { kind } of outcome.faults) add(faults, kind, 1);
    for (const [state, count] of outcome.states) add(states, state, count);
    if (outcome.violation) failing = outcome;
    // A run never waits for the real world; between two of them signals and output have their turn.
    await new Promise((resolve) => void setImmediate(resolve));
  } while (!failing && goesOn(total.runs));
  return { firstSeed, ...total, faults, states, failing };
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
