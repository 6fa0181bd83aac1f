import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { average, collect, count, deadLetter, files, pipeline, sliding, sum, tumbling } from "../../shared/index.ts";
import { describe } from "../../shared/pipeline/describe.ts";
import type { Guarantee, Topology } from "../../shared/pipeline/topology.ts";
import { line, parse, type Reading } from "../support/readings.ts";

const sink = (path: string) => files.sink({ path });

export const window = { size: 20, every: 10 };
export const isLarge = ({ value }: Reading): boolean => value > 60;

/** Two stages, sinks in both, two aggregations, late records, dead letters, aggregates that depend on the order. */
export const readingsUnder = (guarantee: Guarantee): Topology => {
  const source = pipeline("readings", { guarantee, keyGroups: 6, onError: deadLetter(sink("rejected")) }).from(
    files.source({ path: "input", value: (text) => parse(text), timestamp: ({ time }) => time, outOfOrder: 5 }),
  );
  source.filter(isLarge).to(sink("large"), { id: "large" });
  const keyed = source.keyBy(({ key }) => key);
  keyed.window(tumbling(40)).aggregate({ count: count() }).to(sink("wide"), { id: "wide" });
  return describe(
    keyed
      .window(sliding(window), { allowedLateness: 10, late: sink("late") })
      .aggregate({
        count: count(),
        sum: sum(({ value }) => value),
        average: average(({ value }) => value),
        values: collect(({ value }) => value),
      })
      .to(sink("rows"), { id: "rows" }),
  );
};
export const readings = readingsUnder("exactly-once");

/** Running aggregates beside windows of the same keys. */
export const running: Topology = (() => {
  const keyed = pipeline("running", { keyGroups: 6, onError: deadLetter(sink("rejected")) })
    .from(files.source({ path: "input", value: (text) => parse(text), timestamp: ({ time }) => time, outOfOrder: 5 }))
    .keyBy(({ key }) => key);
  keyed.window(tumbling(40)).aggregate({ count: count() }).to(sink("wide"), { id: "wide" });
  const recent = keyed.aggregate({ count: count() }, { id: "recent", expireAfter: 30 });
  recent.map((row, { timestamp }) => ({ ...row, timestamp })).to(sink("recent"), { id: "recent-rows" });
  return describe(
    keyed.aggregate({ values: collect(({ value }) => value) }).to(sink("running"), { id: "running-rows" }),
  );
})();

/** The n-th reading of a partition; some come too late, some are none. */
export function reading(partition: string, index: number): string {
  const random = new SeededRandom(1000 * Number(partition.slice(1)) + index);
  random.below(2);
  if (random.below(15) === 0) return "no reading";
  const behind = random.below(6) === 0 ? random.below(60) : random.below(8);
  return line({ time: 100 + 4 * index - behind, key: `key-${random.below(5)}`, value: random.below(800) / 8 });
}
