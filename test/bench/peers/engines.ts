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
 * A program that does the job of JOB.md: it prints `MARK start MS` when the clock shall start, `MARK end MS` when it believes itself done, and exits with 0.
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

/** Threads of each engine: processors of a small machine. */
const parallelism = "2";

export const engines: readonly Engine[] = [
  flink("flink", 1000, "hashmap"),
  flink("flink-10s", 10_000, "hashmap"),
  flink("flink-rocksdb", 1000, "rocksdb"),
  {
    name: "kstreams",
    epochMs: 1000,
    module: "kstreams",
    results: "topic",
    command: ({ bootstrap, input, output, work }) =>
      javaCommand("kstreams", "StreamsPeer", [bootstrap, input, output, work, "1000", parallelism]),
  },
  {
    name: "spark",
    epochMs: null,
    module: "spark",
    results: "files",
    command: ({ bootstrap, input, work }) => javaCommand("spark", "SparkPeer", [bootstrap, input, work, parallelism]),
  },
  epochflow("epochflow", 1000),
  epochflow("epochflow-10s", 10_000),
];

function flink(name: string, epochMs: number, backend: string): Engine {
  return {
    name,
    epochMs,
    module: "flink",
    results: "topic",
    command: ({ bootstrap, input, output, work }) =>
      javaCommand("flink", "FlinkPeer", [bootstrap, input, output, work, String(epochMs), parallelism, backend]),
  };
}

function epochflow(name: string, epochMs: number): Engine {
  const program = fileURLToPath(new URL("epochflow.ts", import.meta.url));
  return {
    name,
    epochMs,
    results: "topic",
    command: ({ bootstrap, input, output, work }) => [
      ...[process.execPath, "--conditions=epochflow-source", program],
      ...[bootstrap, input, output, work, String(epochMs), parallelism],
    ],
  };
}
