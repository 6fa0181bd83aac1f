/** Sources with one mistake each. Run as a program with the name of one, it runs the conformance suite on that. */
import type { KnownPartition, RecordBatch, SourceRange } from "epochflow";
import { sourceConformance } from "epochflow/testing";
import { type Log, LogSource } from "./log-source.ts";

class ForgetsNewPartitions extends LogSource {
  override async discover(known: readonly KnownPartition[]) {
    const all = await super.discover(known);
    return known.length === 0 ? all : all.filter(({ id }) => known.some((one) => one.id === id));
  }
}

class SaysNothingOfLosses extends LogSource {
  override async discover() {
    return await super.discover([]);
  }
}

/** As a queue does: what was read is gone. */
class ReadsOnce extends LogSource {
  static readonly #read = new WeakMap<Log, Set<string>>();

  override async *read(range: SourceRange): AsyncIterable<RecordBatch> {
    const read = ReadsOnce.#read.get(this.log) ?? new Set<string>();
    ReadsOnce.#read.set(this.log, read);
    const name = `${range.id} ${range.from}`;
    if (!read.has(name)) yield* super.read(range);
    read.add(name);
  }
}

class ReadsOneTooMany extends LogSource {
  override read(range: SourceRange): AsyncIterable<RecordBatch> {
    return super.read({ ...range, to: Math.min(range.to + 1, this.log.get(range.id)!.length) });
  }
}

class CutsRoughly extends LogSource {
  override async cut(range: SourceRange, { records, ...limit }: { bytes?: number; records?: number }) {
    return await super.cut(range, { ...limit, ...(records && { records: records + 1 }) });
  }
}

class CutsNothing extends LogSource {
  override async cut(range: SourceRange, limit: { bytes?: number; records?: number }) {
    const cut = await super.cut(range, limit);
    return limit.bytes !== undefined && cut.bytes > limit.bytes ? { to: range.from, records: 0, bytes: 0 } : cut;
  }
}

class SplitsByChance extends LogSource {
  static #calls = 0;

  override async split(range: SourceRange, pieceBytes: number) {
    return await super.split(range, pieceBytes + (SplitsByChance.#calls++ % 2) * 50);
  }
}

/** By its mistake, and the check of the suite that must find it. */
export const brokenSources: Readonly<Record<string, readonly [source: typeof LogSource, check: RegExp]>> = {
  "forgets new partitions": [ForgetsNewPartitions, /what is new is/],
  "says nothing of losses": [SaysNothingOfLosses, /records are deleted/],
  "reads once": [ReadsOnce, /read again, by another instance/],
  "reads one too many": [ReadsOneTooMany, /goes on where it stopped/],
  "cuts roughly": [CutsRoughly, /a cut by records is exact/],
  "cuts nothing": [CutsNothing, /a cut by bytes takes at least a record/],
  "splits by chance": [SplitsByChance, /a split is a function of the range/],
};

/** The suite on an empty log. */
export function checkSource(name: string, Source: typeof LogSource): void {
  const make = async () => {
    const log: Log = new Map();
    return {
      log,
      open: () => new Source(log),
      append: async (partition: string, values: readonly string[]) =>
        void log.set(partition, [...(log.get(partition) ?? []), ...values]),
      close: async () => {},
    };
  };
  sourceConformance(name, make, {
    "records are deleted": async ({ log }, id) => void log.get(id)!.splice(0, log.get(id)!.length),
  });
}

if (import.meta.main) checkSource(process.argv[2]!, brokenSources[process.argv[2]!]?.[0] ?? LogSource);
