import type { Topology } from "../../shared/pipeline/topology.ts";
import type { RunOptions } from "../options.ts";
import type { Watcher } from "./events.ts";
import { logWatcher } from "./log.ts";

/** Whoever watches a run. */
export interface Watching {
  /** Undefined: nobody, so that nothing is read for them. */
  readonly watch: Watcher | undefined;
  stop(): Promise<void>;
}

interface Watch {
  readonly watch: Watcher;
  stop?(): Promise<void>;
  /** Where it can be seen. */
  readonly url?: string;
}

/** @throws UsageError `port-in-use`, `no-such-address` */
export async function startWatching(
  options: Pick<RunOptions, "log" | "metrics" | "ui" | "onMessage">,
  topology: Topology,
  state: string,
): Promise<Watching> {
  const { log, metrics, ui, onMessage } = options;
  const watches: Watch[] = [];
  const stop = async () => {
    for (const watch of watches) await watch.stop?.();
  };
  const tell: Watcher = (event) => {
    for (const { watch } of watches) watch(event);
  };
  const add = (what: string, watch: Watch) => {
    watches.push(watch);
    if (watch.url === undefined) return;
    onMessage?.({ level: "info", text: `${what}: ${watch.url}` });
    tell({ type: "serving", what, url: watch.url });
  };
  try {
    if (log) add("log", { watch: logWatcher(log, topology.name) });
    if (metrics) {
      const { startMetrics } = await import("./metrics/metrics-server.ts");
      const measured = { pipeline: topology.name, sinks: Object.keys(topology.sinks), state };
      add("metrics", await startMetrics(metrics, measured));
    }
    if (ui) add("page", await (await import("./page/page-of-run.ts")).startPage(ui, topology, state));
  } catch (error) {
    await stop();
    throw error;
  }
  return { watch: watches.length === 0 ? undefined : tell, stop };
}
