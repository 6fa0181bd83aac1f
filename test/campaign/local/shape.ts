import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";

export type Place = "kafka" | "files";

/** Sinks of the pipeline: results, late records, dead letters, and records as they come, written before the shuffle. */
export const sinkIds = ["rows", "late", "dead", "seen"] as const;
export type SinkId = (typeof sinkIds)[number];

/** What is drawn for a round's pipeline. Plain data: the module of the pipeline holds it as JSON. */
export interface Shape {
  readonly source: Place;
  readonly sinks: Readonly<Record<SinkId, Place>>;
  /** Partitions of the source, and of each target topic. */
  readonly partitions: number;
  readonly targets: number;
  readonly lanes: number;
  readonly windowMs: number;
  /** Equal to `windowMs`: tumbling. */
  readonly everyMs: number;
  readonly allowedLatenessMs: number;
  readonly outOfOrderMs: number;
  readonly keys: number;
}

export function drawShape(random: SeededRandom): Shape {
  const oneOf = <T>(...these: readonly T[]): T => these[random.below(these.length)]!;
  const place = () => oneOf<Place>("kafka", "files");
  const rows = place();
  // Mostly where the results are: a round in seven has nothing to do with Kafka, as many with nothing else.
  const beside = () => oneOf(rows, rows, place());
  const windowMs = oneOf(5000, 10_000);
  return {
    source: place(),
    sinks: { rows, late: beside(), dead: beside(), seen: beside() },
    partitions: 1 + random.below(5),
    targets: 1 + random.below(6),
    lanes: 1 + random.below(3),
    windowMs,
    everyMs: oneOf(windowMs, windowMs, windowMs / 2),
    allowedLatenessMs: oneOf(0, 0, 3000),
    outOfOrderMs: 2000,
    keys: 5 + random.below(30),
  };
}

export const usesKafka = ({ source, sinks }: Shape): boolean =>
  [source, ...Object.values(sinks)].some((place) => place === "kafka");

export function describeShape(shape: Shape): string {
  const { source, sinks, partitions, targets, lanes, windowMs, everyMs, allowedLatenessMs } = shape;
  const targetsOf = sinkIds.map((id) => `${id} in ${sinks[id]}`).join(", ");
  const windows = `windows of ${windowMs} ms every ${everyMs} ms, ${allowedLatenessMs} ms late`;
  return `${partitions} partitions in ${source} → ${targetsOf} (${targets} partitions, ${lanes} lanes); ${windows}`;
}
