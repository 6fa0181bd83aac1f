import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { durationBuckets, type MetricName, metricDefinitions } from "./definitions.ts";

type Labels = Readonly<Record<string, string>>;

type NamesOf<Type> = {
  [Name in MetricName]: (typeof metricDefinitions)[Name]["type"] extends Type ? Name : never;
}[MetricName];

/** The metrics of one pipeline in a registry, which several runs may share. */
export interface Instruments {
  count(name: NamesOf<"counter">, by: number, labels?: Labels): void;
  observe(name: NamesOf<"histogram">, seconds: number, labels?: Labels): void;
  set(name: NamesOf<"gauge">, value: number, labels?: Labels): void;
  /** Forgets what this pipeline has told of a gauge: partitions come and go. */
  clear(name: NamesOf<"gauge">): void;
}

/** Called before a registry is read, to bring gauges up to date. */
type Refresh = () => Promise<void>;

const refreshing = new WeakMap<Registry, Set<Refresh>>();

/** @param refresh called before each scrape, until the function that comes with it is called */
export function instrumentsIn(registry: Registry, pipeline: string, refresh: Refresh): [Instruments, stop: () => void] {
  const refreshes = refreshing.get(registry) ?? register(registry);
  refreshes.add(refresh);
  const told = new Map<string, Map<string, Labels>>();
  const instruments: Instruments = {
    count: (name, by, labels) => of<Counter>(registry, name).inc({ pipeline, ...labels }, by),
    observe: (name, seconds, labels) => of<Histogram>(registry, name).observe({ pipeline, ...labels }, seconds),
    set(name, value, labels = {}) {
      const all = { pipeline, ...labels };
      const known = told.get(name) ?? new Map<string, Labels>();
      told.set(name, known.set(JSON.stringify(labels), all));
      of<Gauge>(registry, name).set(all, value);
    },
    clear(name) {
      for (const labels of told.get(name)?.values() ?? []) of<Gauge>(registry, name).remove(labels);
      told.delete(name);
    },
  };
  return [instruments, () => refreshes.delete(refresh)];
}

const of = <M extends Counter | Gauge | Histogram>(registry: Registry, name: string) =>
  registry.getSingleMetric(name) as unknown as M;

function register(registry: Registry): Set<Refresh> {
  const refreshes = new Set<Refresh>();
  refreshing.set(registry, refreshes);
  const once = refreshOnce(refreshes);
  for (const [name, definition] of Object.entries(metricDefinitions)) {
    const { type, help } = definition;
    const labelNames = ["pipeline", ...("labels" in definition ? definition.labels : [])];
    const common = { name, help, labelNames, registers: [registry] };
    if (type === "counter") new Counter(common);
    else if (type === "gauge") new Gauge({ ...common, collect: once });
    else new Histogram({ ...common, buckets: durationBuckets });
  }
  return refreshes;
}

/** A scrape asks every gauge: the first one that is asked refreshes all of them. */
function refreshOnce(refreshes: ReadonlySet<Refresh>): Refresh {
  let underWay: Promise<void> | undefined;
  const all = async () => {
    await Promise.all([...refreshes].map((refresh) => refresh()));
  };
  return () => {
    underWay ??= all().finally(() => setImmediate(() => (underWay = undefined)));
    return underWay;
  };
}
