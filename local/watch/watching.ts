import type { Topology } from "../../shared/pipeline/topology.ts";
import type { RunOptions } from "../options.ts";
import type { Watcher } from "./events.ts";
import { logWatcher } from "./log.ts";

/** Whoever watches a run; undefined if nobody does, so that nothing is read for them. */
export function watcherOf({ log }: RunOptions, { name }: Topology): Watcher | undefined {
  const watchers = [...(log ? [logWatcher(log, name)] : [])];
  if (watchers.length === 0) return undefined;
  return (event) => {
    for (const watch of watchers) watch(event);
  };
}
