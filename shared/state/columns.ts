import { UserCodeError } from "../errors.ts";
import type { Aggregate } from "../operators/aggregates.ts";
import type { AggregateNode, StatefulNode } from "../pipeline/topology.ts";
import { type ByteReader, type ByteWriter, MalformedError } from "./bytes.ts";
import { decodeData, encodeData } from "./codec.ts";

/** One aggregate's accumulators, by the number of the key: numbers are kept unboxed where the aggregate promises them. */
export type Column = Float64Array | unknown[];

export type AnyAggregate = Aggregate<unknown, unknown, unknown>;

/** A named aggregate of a stateful node; `operator` is the node's id. */
export interface NamedAggregate {
  readonly operator: string;
  readonly name: string;
  readonly aggregate: AnyAggregate;
  /** What it folds: values, or, in columns of the engine's own, their event times. */
  readonly folds: "values" | "times";
}

/**
 * The aggregates of a stateful node, in the order of their definition: the order of columns everywhere. Where there are no windows, the latest event time of
 * each key comes behind them.
 */
export function aggregatesOf(node: StatefulNode): readonly NamedAggregate[] {
  const own = Object.entries(node.aggregates).map(([name, aggregate]) => ({
    operator: node.id,
    name,
    aggregate: aggregate as AnyAggregate,
    folds: "values" as const,
  }));
  return node.kind === "window" ? own : [...own, timeColumn(node, "latest time", Number.NEGATIVE_INFINITY, Math.max)];
}

/** Before the shuffle: the same, and the event time of the first value, in offset order, which says whether its key began anew with it. */
export function partialAggregatesOf(node: AggregateNode): readonly NamedAggregate[] {
  const first = (own: number, other: number) => (Number.isNaN(own) ? other : own);
  return [...aggregatesOf(node), timeColumn(node, "first time", Number.NaN, first)];
}

function timeColumn(
  { id }: AggregateNode,
  name: string,
  initial: number,
  combine: (own: number, other: number) => number,
): NamedAggregate {
  const aggregate: Aggregate<number, number, number> = {
    name,
    numeric: true,
    init: () => initial,
    add: combine,
    merge: combine,
    result: (time) => time,
  };
  return { operator: id, name, aggregate: aggregate as AnyAggregate, folds: "times" };
}

export function newColumns(aggregates: readonly NamedAggregate[], capacity: number): Column[] {
  return aggregates.map(({ aggregate }) => (aggregate.numeric === true ? new Float64Array(capacity) : []));
}

/** Makes room in columns of numbers; lists grow by themselves. */
export function growColumns(columns: Column[], capacity: number): void {
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]!;
    if (!(column instanceof Float64Array) || column.length >= capacity) continue;
    const larger = new Float64Array(capacity);
    larger.set(column);
    columns[index] = larger;
  }
}

/** What `aggregate` must not have made, as an error that names it. */
export function noData(of: NamedAggregate, reason: string, cause?: unknown): UserCodeError {
  const message = `The accumulator of aggregate "${of.name}" of operator "${of.operator}" is ${reason}`;
  return new UserCodeError("accumulator-not-data", message, {
    wayOut:
      "An accumulator is data: numbers, strings, booleans, bigints, null, Date, Uint8Array, and arrays, Maps, Sets and plain objects of them.",
    place: { operator: of.operator },
    cause,
  });
}

const kind = { data: 0, numbers: 1 } as const;

/** Writes the accumulators of the keys `order[from, to)`. @throws NotDataError */
export function encodeColumn(writer: ByteWriter, column: Column, order: Int32Array, from: number, to: number): void {
  if (column instanceof Float64Array) {
    writer.byte(kind.numbers);
    writer.float64s(column, order, from, to);
  } else {
    writer.byte(kind.data);
    for (let index = from; index < to; index++) encodeData(writer, column[order[index]!]);
  }
}

/** Reads what `encodeColumn` wrote. @throws MalformedError */
export function decodeColumn(reader: ByteReader, count: number): Column {
  switch (reader.byte()) {
    case kind.numbers:
      return decodeNumbers(reader, count);
    case kind.data:
      return Array.from({ length: count }, () => decodeData(reader));
    default:
      throw new MalformedError("a column is of an unknown kind");
  }
}

function decodeNumbers(reader: ByteReader, count: number): Float64Array {
  const start = reader.skip(count * 8);
  const view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset + start, count * 8);
  const numbers = new Float64Array(count);
  for (let index = 0; index < count; index++) numbers[index] = view.getFloat64(index * 8, true);
  return numbers;
}
