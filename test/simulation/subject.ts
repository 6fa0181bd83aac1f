import type { WeakerGuarantee } from "../../shared/epoch/epoch.ts";
import type { Subject } from "../../shared/testing/simulation/simulate.ts";
import { judge, judgeRunning, judgeWeaker } from "./oracle.ts";
import { reading, readings, readingsUnder, running } from "./pipelines.ts";

/** What the protocol's own campaign runs. */
export const subject: Subject = { topology: readings, values: reading, judge };

/** The same for running aggregates, in a pipeline of their own: so that seeds go on meaning what they meant. */
export const runningSubject: Subject = { topology: running, values: reading, judge: judgeRunning };

/** The same under a weaker guarantee. */
export const weakerSubject = (guarantee: WeakerGuarantee): Subject => ({
  topology: readingsUnder(guarantee),
  values: reading,
  judge: judgeWeaker,
});
