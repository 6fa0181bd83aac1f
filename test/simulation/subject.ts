import type { Subject } from "../../shared/testing/simulation/simulate.ts";
import { judge } from "./oracle.ts";
import { reading, readings } from "./pipelines.ts";

/** What the protocol's own campaign runs. */
export const subject: Subject = { topology: readings, values: reading, judge };
