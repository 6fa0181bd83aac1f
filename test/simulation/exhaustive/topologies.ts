import { count, files, pipeline, tumbling } from "../../../shared/index.ts";
import { describe } from "../../../shared/pipeline/describe.ts";
import type { Topology } from "../../../shared/pipeline/topology.ts";

export interface Reading {
  readonly time: number;
  /** Without output. */
  readonly silent: boolean;
}

export const readingOf = (value: string): Reading => ({
  time: Number(value.split(" ")[0]),
  silent: value.includes("silent"),
});

const source = () =>
  pipeline("small", { keyGroups: 2 }).from(
    files.source({ path: "input", value: readingOf, timestamp: ({ time }) => time, outOfOrder: 0 }),
  );
const counted = (readings: ReturnType<typeof source>, windowMs: number) =>
  readings
    .keyBy(() => "k")
    .window(tumbling(windowMs))
    .aggregate({ count: count() })
    .to(files.sink({ path: "windows" }), { id: "windows" });

/** Each record is a row, and changes a state that never fires: what model B's epochs do. */
export function epochTopology(sinks: readonly string[]): Topology {
  const readings = source();
  const loud = readings.filter(({ silent }) => !silent).map(({ time }) => ({ key: "k", time }));
  for (const id of sinks) loud.to(files.sink({ path: id }), { id });
  return describe(counted(readings, 1e12));
}

/** A window that waits until a silent partition lets it fire. */
export const windowTopology: Topology = describe(counted(source(), 10));
