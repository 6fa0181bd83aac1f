import type { Registry } from "prom-client";
import { end, type Served, serve } from "../http.ts";
import { type Measured, metricsWatcher } from "./metrics-watcher.ts";

/** Where the metrics of a run go: to a server of its own, or into a registry of prom-client, for whoever serves one already. */
export type MetricsOptions =
  | {
      /** 0: any that is free. */
      readonly port: number;
      /** Address to listen on; 127.0.0.1 by default. */
      readonly host?: string;
    }
  | { readonly registry: Registry };

/** Loaded where metrics are asked for. The registry of a server has those of the process, too: processor, memory, event loop, garbage collection. */
export async function startMetrics(options: MetricsOptions, measured: Measured) {
  if ("registry" in options) return metricsWatcher(options.registry, measured);
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = metricsWatcher(registry, measured);
  const server = await serveMetrics(registry, options);
  return {
    ...metrics,
    url: `${server.url}/metrics`,
    async stop() {
      await server.close();
      await metrics.stop();
      registry.clear();
    },
  };
}

function serveMetrics(
  registry: Registry,
  { port, host = "127.0.0.1" }: { port: number; host?: string },
): Promise<Served> {
  return serve("Metrics", { host, port }, async (path, _, response) => {
    if (path !== "/metrics") return end(response, 404, "The metrics are at /metrics.");
    const text = await registry.metrics();
    response.writeHead(200, { "Content-Type": registry.contentType }).end(text);
  });
}
