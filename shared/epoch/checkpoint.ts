import { invariant } from "../invariant.ts";
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
