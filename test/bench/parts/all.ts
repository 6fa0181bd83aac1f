import { operatorParts } from "./operators.ts";
import type { Part } from "./part.ts";
import { sinks } from "./sinks.ts";
import { snapshots } from "./snapshots.ts";
import { sources } from "./sources.ts";
import { stateParts } from "./state.ts";

/** In the order in which records go through them. */
export const parts: readonly Part[] = [...sources, ...operatorParts, ...stateParts, ...snapshots, ...sinks];
