import { hasImage, whyNoEngine } from "../docker.ts";
import { whyNoJava } from "./jars.ts";
import type { KafkaVersion } from "./versions.ts";

/** What starts a broker: a Java process on jars from Maven Central, or a container of the image `apache/kafka`. */
export interface Launcher {
  readonly name: "jars" | "containers";
  /** The address that the broker listens on. */
  readonly bind: string;
  /** Resolves when the broker serves requests. @throws Error with the end of its log if it does not come to that */
  launch(launch: Launch): Promise<LaunchedBroker>;
}

export interface Launch {
  readonly version: KafkaVersion;
  /** Holds `server.properties`; the data goes into `data` in it, which is formatted if it is new. */
  readonly folder: string;
  /** Whether the folder goes too when this process ends without a word. */
  readonly temporary: boolean;
  readonly ports: readonly number[];
  /** Arguments of Kafka's `storage format`. */
  readonly format: readonly string[];
  /** Options of the Java virtual machine. */
  readonly jvm: readonly string[];
}

export interface LaunchedBroker {
  readonly pid: number;
  /** The last lines that it logged. */
  log(): string;
  /** Resolves when it has ended. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** What a person types for a tool of Kafka's, up to its options. */
  command(tool: KafkaTool): string;
}

export type KafkaTool = "topics" | "console-producer" | "console-consumer";

/** Any: the broker is the only one of its cluster. */
export const clusterId = "ZXBvY2hmbG93LXRlc3RzMQ";

/** What a broker logs when it serves requests. */
export const started = "Kafka Server started";

export const imageOf = (version: KafkaVersion) => `apache/kafka:${version}`;

/**
 * By the environment variable `EPOCHFLOW_KAFKA`, `jars` or `containers`. Without it containers if a Docker engine answers and has the image already, since
 * jars are there sooner than an image can be pulled.
 *
 * @returns as a text, why there is none, and what to install
 */
export async function pickLauncher(version: KafkaVersion): Promise<Launcher | string> {
  const wanted = process.env.EPOCHFLOW_KAFKA;
  if (wanted !== undefined && wanted !== "jars" && wanted !== "containers")
    throw new Error(`EPOCHFLOW_KAFKA is "jars" or "containers", not "${wanted}"`);
  const byContainer = wanted === "containers" || (wanted === undefined && (await hasImage(imageOf(version))));
  const problem = byContainer ? await whyNoEngine() : whyNoJava();
  if (problem !== undefined) return `No Kafka can be started here. ${problem}`;
  return byContainer
    ? (await import("./container-launcher.ts")).containerLauncher
    : (await import("./jars-launcher.ts")).jarsLauncher;
}
