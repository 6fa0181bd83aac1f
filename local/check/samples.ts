import { type Finding, failure, finding } from "../../shared/finding.ts";
import { SourceStage } from "../../shared/operators/source-stage.ts";
import type { DeadLetterRow, Topology } from "../../shared/pipeline/topology.ts";
import type { Transaction } from "../../shared/ports/sink.ts";
import type { PartitionStatus, Source } from "../../shared/ports/source.ts";
import { TestSink } from "../../shared/testing/pipeline/test-sink.ts";

/** Partitions that are looked into: those with something to read, by their ids. */
const mostPartitions = 8;
/** Where the letters of what fails go; no id that a user could give. */
const collector = "(check)";
const earliestSensible = Date.UTC(1980, 0, 1);
const dayMs = 86_400_000;

export interface Samples {
  readonly records: number;
  readonly findings: readonly Finding[];
  /** Smallest event time among them, epoch milliseconds; undefined: there is none. */
  readonly earliest: number | undefined;
  /** Time of the first unread record by partition, as the source itself has it. */
  readonly firstTimes: ReadonlyMap<string, number>;
}

export interface Unread extends PartitionStatus {
  readonly position: number;
}

/**
 * Takes the first unread records through what the pipeline makes of each record: decoders, event time, map, filter, flatMap, keyBy, up to windows, where they end; and
 * sinks, which encode their rows, and find their places, as they do in a run.
 */
export async function trySamples(
  topology: Topology,
  source: Source,
  partitions: readonly Unread[],
  records: number,
  now: number,
): Promise<Samples> {
  const times: number[] = [];
  const letters: DeadLetterRow[] = [];
  const firstTimes = new Map<string, number>();
  const findings: Finding[] = [];
  const sinks = await sinksOf(topology);
  const stage = new SourceStage({
    topology: watched(topology, times),
    watermark: null,
    processingTime: now,
    write: (sink, rows, timeOf, refused) => {
      if (sink === collector) letters.push(...(rows as DeadLetterRow[]));
      else sinks.get(sink)?.write(rows, refused, timeOf);
    },
  });
  const [node] = topology.nodes;
  const hasTimes = node?.kind === "source" && node.source.timestamp !== undefined;
  const unread = partitions.filter(({ position, end }) => end > position).slice(0, mostPartitions);
  for (const { id, identity, position, end } of unread) {
    const whole = { id, identity, from: position, to: end };
    try {
      const { to } = await source.cut(whole, { records });
      stage.begin(id);
      for await (const batch of source.read({ ...whole, to })) {
        const own = [...(batch.timestamps ?? [])].slice(0, batch.count);
        if (own[0] !== undefined && !firstTimes.has(id)) firstTimes.set(id, own[0]);
        if (!hasTimes) times.push(...own);
        stage.process(batch);
      }
      stage.end();
    } catch (error) {
      findings.push(failure(error));
    }
  }
  const level = topology.onError.action === "fail" ? "error" : "warning";
  findings.push(...alike(letters).map((some) => failed(some, level, topology)), ...strangeTimes(times, now));
  return {
    records: stage.counts.records,
    findings,
    earliest: times.length === 0 ? undefined : Math.min(...times),
    firstTimes,
  };
}

/** Encode rows as the pipeline's own sinks do, with their folders, and keep them in memory. */
async function sinksOf({ name, sinks }: Topology): Promise<ReadonlyMap<string, Transaction>> {
  const context = { pipeline: name, uid: "", epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "check" };
  const begun = Object.entries(sinks).map(
    async ([sink, description]) => [sink, await new TestSink(description, []).begin({ ...context, sink })] as const,
  );
  return new Map(await Promise.all(begun));
}

/** The pipeline, telling event times, and giving what fails to the collector. Nothing of it is written. */
function watched(topology: Topology, times: number[]): Topology {
  const [node, ...others] = topology.nodes;
  if (node?.kind !== "source") throw new Error("a topology begins with its source");
  const { timestamp } = node.source;
  const told = timestamp && {
    timestamp: (value: unknown) => {
      const time = timestamp(value);
      if (Number.isFinite(time)) times.push(time);
      return time;
    },
  };
  const source = { ...node.source, ...told };
  return { ...topology, onError: { action: "deadLetter", sink: collector }, nodes: [{ ...node, source }, ...others] };
}

/** Letters that say the same, but for numbers, of one operator and partition. */
function alike(letters: readonly DeadLetterRow[]): DeadLetterRow[][] {
  const groups = new Map<string, DeadLetterRow[]>();
  for (const letter of letters) {
    const key = JSON.stringify([letter.operator, letter.partition, letter.error.replaceAll(/\d+/g, "0")]);
    groups.set(key, [...(groups.get(key) ?? []), letter]);
  }
  return [...groups.values()];
}

function failed(
  [first, ...others]: readonly DeadLetterRow[],
  level: Finding["level"],
  { name, onError }: Topology,
): Finding {
  const { error, operator, partition, offset } = first!;
  const more = others.length === 0 ? "" : `; ${others.length} more of the samples fail in this way`;
  const { action } = onError;
  const then =
    action === "fail"
      ? "the pipeline stops there"
      : action === "skip"
        ? "the record is skipped"
        : "it becomes a dead letter";
  const wayOut = "Mend the function or the decoder; onError says what becomes of records that nobody can mend.";
  return finding(level, "sample-failed", `${error}: ${then}${more}`, wayOut, {
    pipeline: name,
    operator,
    partition,
    offset,
  });
}

/** Each kind of mistake once. */
function strangeTimes(times: readonly number[], now: number): Finding[] {
  const early = times.find((time) => time > 0 && time < earliestSensible);
  const late = times.find((time) => time > now + dayMs);
  return [
    ...(early === undefined
      ? []
      : [
          finding(
            "warning",
            "time-in-seconds",
            `an event time is ${early}, in ${new Date(early).getUTCFullYear()}: are these seconds?`,
            "`timestamp` gives milliseconds since 1970.",
          ),
        ]),
    ...(late === undefined
      ? []
      : [
          finding(
            "warning",
            "time-ahead",
            `an event time is ${late}, more than a day ahead: it takes the watermark with it, and what is on time is late`,
            "Correct `timestamp`, or drop such records.",
          ),
        ]),
  ];
}
