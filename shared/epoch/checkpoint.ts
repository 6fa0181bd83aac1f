import { invariant } from "../invariant.ts";
import { expandChains, mergeChains } from "../state/chains.ts";
import type { Ack, ChainRun, Checkpoint, EpochRow } from "./epoch.ts";
import { parseObjectKey } from "./names.ts";

/** The state of all stages after an epoch, from the acks of its tasks: each names the chains of its own key groups. */
export function checkpointOf(row: EpochRow, acks: readonly Ack[], keyGroups: number): Checkpoint {
  const stages: Record<string, ChainRun[]> = {};
  for (const ack of acks)
    for (const [stage, runs] of Object.entries(ack.chains)) {
      stages[stage] ??= [];
      stages[stage].push(...runs);
    }
  for (const [stage, runs] of Object.entries(stages)) {
    runs.sort((one, other) => one.from - other.from);
    assertCovers(row, stage, runs, keyGroups);
    for (const run of runs) for (const object of run.objects) assertDecided(row, object);
  }
  return { stages };
}

/** What an attempt left that was given up when some of its tasks had claimed their rows: theirs is the new state, all else stays as it was. */
export function checkpointOfClaims(
  before: { readonly checkpoint: Checkpoint } | undefined,
  row: EpochRow,
  acks: readonly Ack[],
  keyGroups: number,
): Checkpoint {
  const all = { from: 0, to: keyGroups };
  const claimed = acks.flatMap((ack) => Object.entries(ack.chains));
  const known = before?.checkpoint.stages ?? {};
  const stages = new Set([...Object.keys(known), ...claimed.map(([stage]) => stage)]);
  const merged = [...stages].map((stage) => {
    const chains = expandChains(known[stage] ?? [], all);
    for (const [, runs] of claimed.filter(([of]) => of === stage))
      for (const { from, to, objects } of runs) chains.fill(objects, from, to);
    return [stage, mergeChains(chains, 0)] as const;
  });
  for (const [, runs] of claimed) for (const run of runs) for (const object of run.objects) assertDecided(row, object);
  return { stages: Object.fromEntries(merged) };
}

/** I5: a checkpoint is complete. */
function assertCovers({ epoch, attempt }: EpochRow, stage: string, runs: readonly ChainRun[], keyGroups: number): void {
  let covered = 0;
  for (const { from, to } of runs) {
    invariant("I5", from === covered && to > from, () => `stage ${stage} has no state for key group ${covered}`, {
      epoch,
      attempt,
    });
    covered = to;
  }
  invariant("I5", covered === keyGroups, () => `stage ${stage} has no state for key group ${covered}`, {
    epoch,
    attempt,
  });
}

/** I2: nothing that another attempt of this epoch wrote, or of a later one. */
function assertDecided({ epoch, attempt }: EpochRow, object: string): void {
  const name = parseObjectKey(object);
  const mayBeNamed = name !== undefined && (name.epoch < epoch || (name.epoch === epoch && name.attempt === attempt));
  invariant("I2", mayBeNamed, () => `the checkpoint names ${object}, which is of another attempt`, { epoch, attempt });
}
