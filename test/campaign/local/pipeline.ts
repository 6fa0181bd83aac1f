/** The pipeline of a round, as its shape says. Rounds have a module of their own, which holds the shape: that can be changed while it runs. */
import {
  count,
  type Definition,
  deadLetter,
  files,
  hours,
  json,
  kafka,
  max,
  parameter,
  pipeline,
  type SinkDescription,
  sliding,
  sum,
  tumbling,
} from "epochflow";
import { type InputRecord, parseRecord } from "./records.ts";
import type { Shape, SinkId } from "./shape.ts";

/** One in so many records is written as it comes, too. */
export const seenEvery = 5;

export interface ResultRow {
  readonly key: string;
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly count: number;
  readonly sum: number;
  readonly last: number;
  /** Of the code that made the row. */
  readonly version: number;
}

/** @param version of the code: what a deployment changes */
export function campaignPipeline(shape: Shape, version: number): Definition {
  const { windowMs, everyMs, allowedLatenessMs } = shape;
  const records = pipeline("campaign", { keyGroups: 32, onError: deadLetter(sinkOf(shape, "dead")) }).from(
    sourceOf(shape),
  );
  records
    .filter(({ id }) => id % seenEvery === 0)
    .map(({ id }) => ({ id }))
    .to(sinkOf(shape, "seen"), { id: "seen" });
  return records
    .keyBy(({ key }) => key)
    .window(everyMs === windowMs ? tumbling(windowMs) : sliding({ size: windowMs, every: everyMs }), {
      allowedLateness: allowedLatenessMs,
      late: sinkOf(shape, "late"),
    })
    .aggregate({ count: count(), sum: sum(({ id }) => id), last: max(({ id }) => id) })
    .map((row): ResultRow => ({ ...row, version }))
    .to(
      sinkOf<ResultRow>(shape, "rows", ({ key }) => key),
      { id: "rows" },
    );
}

/** A partition never counts as idle: then a record is late only if it lies behind others of its own. */
const common = { value: parseRecord, timestamp: ({ time }: InputRecord) => time, idleAfter: hours(24) };

function sourceOf({ source, outOfOrderMs: outOfOrder }: Shape) {
  return source === "kafka"
    ? kafka.source({ topic: parameter("input"), ...common, outOfOrder })
    : files.source({ path: parameter("input"), ...common, outOfOrder });
}

function sinkOf<T>({ sinks, lanes }: Shape, id: SinkId, key?: (row: T) => string): SinkDescription<T> {
  if (sinks[id] === "files") return files.sink({ path: parameter(id) });
  return kafka.sink<T>({ topic: parameter(id), value: json(), lanes, ...(key && { key }) });
}
