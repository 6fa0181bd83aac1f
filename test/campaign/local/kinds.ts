import { networkKinds } from "./network-kinds.ts";
import { pauseKinds } from "./pause-kinds.ts";
import { placeKinds } from "./place-kinds.ts";
import { processKinds } from "./process-kinds.ts";

/** All that is done to a pipeline on this machine. */
export const localKinds = [...processKinds, ...pauseKinds, ...networkKinds, ...placeKinds];
