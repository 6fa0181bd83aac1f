import { fileURLToPath } from "node:url";
import { type JavaModule, javaCommand } from "./build.ts";

/** Where a run reads and writes. */
export interface Place {
  readonly bootstrap: string;
  readonly input: string;
  readonly output: string;
  /** A folder of the run's own. */
  readonly work: string;
}

/**
 * A program that does a job of JOB.md: it prints `MARK start MS` when the clock shall start. One whose job has an end prints `MARK end MS` when it believes
 * itself done, and exits with 0; one whose job has none goes on until it is killed, and, started again in the same place, from where it was.
 */
export interface Engine {
  readonly name: string;
  /** Interval of checkpoints or commits; null where all is one batch. */
  readonly epochMs: number | null;
  readonly module?: JavaModule;
  /** In the topic, or, where an engine writes to Kafka at least once only, in files below `work/out`. */
  readonly results: "topic" | "files";
  command(place: Place): string[];
}

type Job = "count" | "pass" | "running";

/** What every other engine is compared with. */
export const baseline = "flink";

/** Threads of each engine: processors of a small machine. */
const parallelism = "2";

/** The ordinary pipeline, whose functions are given strings; and operators that leave the bytes as they are. */
const [strings, bytes] = ["../../../examples/word-count-kafka.ts", "../../../examples/word-count-bytes.ts"] as const;

export const throughputEngines: readonly Engine[] = [
  flink("flink", "count", 1000),
  flink("flink-10s", "count", 10_000),
  flink("flink-rocksdb", "count", 1000, "rocksdb"),
  kafkaStreams("kstreams", "count", 1000),
  {
    name: "spark",
    epochMs: null,
    module: "spark",
    results: "files",
    command: ({ bootstrap, input, work }) =>
      javaCommand("spark", "SparkPeer", [bootstrap, input, work, parallelism], { work }),
  },
  epochflow("epochflow", strings, 1000),
  epochflow("epochflow-10s", strings, 10_000),
  epochflow("epochflow-bytes", bytes, 1000),
  epochflow("epochflow-bytes-10s", bytes, 10_000),
];

/** The shortest of ours that keeps up is the one to compare with the shortest of the others. */
export const latencyEngines: readonly Engine[] = [
  flink("flink", "pass", 1000),
  kafkaStreams("kstreams", "pass", 1000),
  kafkaStreams("kstreams-100ms", "pass", 100),
  epochflow("epochflow", "pipelines/pass.ts", 1000, "follow"),
  epochflow("epochflow-100ms", "pipelines/pass.ts", 100, "follow"),
  epochflow("epochflow-50ms", "pipelines/pass.ts", 50, "follow"),
  epochflow("epochflow-20ms", "pipelines/pass.ts", 20, "follow"),
];

export const recoveryEngines: readonly Engine[] = [
  flink("flink", "running", 1000),
  flink("flink-rocksdb", "running", 1000, "rocksdb"),
  epochflow("epochflow", "pipelines/running.ts", 1000, "follow"),
];

function flink(name: string, job: Job, epochMs: number, backend = "hashmap"): Engine {
  return {
    name,
    epochMs,
    module: "flink",
    results: "topic",
    command: ({ bootstrap, input, output, work }) =>
      javaCommand("flink", "FlinkPeer", [job, bootstrap, input, output, work, String(epochMs), parallelism, backend], {
        work,
      }),
  };
}

function kafkaStreams(name: string, job: Job, epochMs: number): Engine {
  return {
    name,
    epochMs,
    module: "kstreams",
    results: "topic",
    command: ({ bootstrap, input, output, work }) =>
      javaCommand("kstreams", "StreamsPeer", [job, bootstrap, input, output, work, String(epochMs), parallelism], {
        work,
      }),
  };
}

/** A pipeline of ours, run by the package as it is installed, in a process of its own with worker threads; with `follow` it does not end where its input does. */
function epochflow(name: string, pipeline: string, epochMs: number, ...follow: readonly "follow"[]): Engine {
  const [program, path] = ["epochflow.ts", pipeline].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  return {
    name,
    epochMs,
    results: "topic",
    command: ({ bootstrap, input, output, work }) => [
      ...[process.execPath, program!, path!],
      ...[bootstrap, input, output, work, String(epochMs), parallelism, ...follow],
    ],
  };
}
