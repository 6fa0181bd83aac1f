import definition from "../../statemachines/checkpoint.asl.json" with { type: "json" };
import type { Machine } from "./interpreter.ts";

/** The one definition of the coordinator; on AWS its placeholders become functions. What TypeScript makes of a JSON file knows no states that have other fields. */
export const coordinator = definition as unknown as Machine;
