import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { until } from "../until.ts";
import { classArchive } from "./class-archive.ts";
import { kafkaClassPath } from "./jars.ts";
import { type KafkaVersion, kafkaVersions } from "./versions.ts";

export type OracleIsolation = "read_committed" | "read_uncommitted";

/** A record as the Java consumer gives it. */
export interface OracleRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[];
}

export interface ReadOptions {
  /** Default: all. */
  readonly partition?: number;
  /** Offsets by partition; default: where the log starts. */
  readonly from?: Readonly<Record<number, number>>;
  /** Default: read_committed. */
  readonly isolation?: OracleIsolation;
}

/** A record for the Java producer. Without a partition its default partitioner picks one; without a timestamp it is now. Texts are written as UTF-8. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition?: number;
  readonly timestamp?: number;
  readonly key?: Buffer | string | null;
  readonly value?: Buffer | string | null;
  readonly headers?: readonly (readonly [name: string, value: Buffer | string | null])[];
}

export interface ProducerOptions {
  readonly transactionalId?: string;
  readonly compression?: "none" | "gzip" | "snappy" | "lz4" | "zstd";
  /** Any others of the Java producer, by their names in Kafka. */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
}

/** A Java producer. With a transactional id its open transaction of an earlier life is aborted first. */
export interface OracleProducer extends AsyncDisposable {
  begin(): Promise<void>;
  /** Resolves when all are acknowledged. Those of one partition share a batch, as far as `batch.size` allows. */
  send(...records: readonly OutgoingRecord[]): Promise<{ partition: number; offset: number }[]>;
  commit(): Promise<void>;
  abort(): Promise<void>;
  close(): Promise<void>;
}

/** Kafka's own Java client: what a reader may see, and what other programs do to topics. Errors carry the name of the Java exception. */
export interface Oracle extends AsyncDisposable {
  /** Resolves when it can be used; so does `addPartitions`. */
  createTopic(topic: string, partitions: number, config?: Readonly<Record<string, string>>): Promise<void>;
  configureTopic(topic: string, config: Readonly<Record<string, string>>): Promise<void>;
  deleteTopic(topic: string): Promise<void>;
  /** Deletes what lies before an offset, as retention does; -1: all. */
  deleteRecords(topic: string, partition: number, before: number): Promise<void>;
  /** @param total how many there are to be */
  addPartitions(topic: string, total: number): Promise<void>;
  /** By partition. */
  offsets(topic: string, which: "earliest" | "last-stable" | "high-watermark"): Promise<number[]>;
  /** All up to the end that there is when it begins: the last stable offset for read_committed. In order per partition. */
  read(topic: string, options?: ReadOptions): Promise<OracleRecord[]>;
  /** Resolves when no transaction is open, its markers included: a broker answers to a commit before it has written them. */
  settled(topic: string): Promise<void>;
  /** Where Java's default partitioner puts a key. */
  partitionFor(key: Buffer, partitions: number): Promise<number>;
  producer(options?: ProducerOptions): Promise<OracleProducer>;
  close(): Promise<void>;
}

export interface OracleOptions {
  /** Of the client's jars. */
  readonly version?: KafkaVersion;
  /** More of the client's configuration, such as `security.protocol`. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Memory of the process, which holds what it has read: 512 by default. */
  readonly heapMiB?: number;
}

const readTimeoutMs = 60_000;

/** Starts the Java process; it ends with this one. */
export async function startOracle(bootstrap: string, options: OracleOptions = {}): Promise<Oracle> {
  const archive = await classArchive(options.version ?? kafkaVersions[0], "Oracle", async (making) => {
    const oracle = await start(bootstrap, options, making);
    await Promise.allSettled([oracle.offsets("none-of-this-name", "earliest"), oracle.producer()]);
    await oracle.close();
  });
  return await start(bootstrap, options, archive);
}

async function start(bootstrap: string, options: OracleOptions, jvm: readonly string[]): Promise<Oracle> {
  const connection = { "bootstrap.servers": bootstrap, ...options.properties };
  const child = spawn(
    "java",
    [
      ...[...jvm, `-Xmx${options.heapMiB ?? 512}m`, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
      ...["-cp", await kafkaClassPath(options.version ?? kafkaVersions[0]), "Oracle", JSON.stringify(connection)],
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const { call, close } = conversation(child);
  const offsets: Oracle["offsets"] = (topic, which) => call("offsets", { topic, which });
  let producers = 0;
  return {
    createTopic: (topic, partitions, config = {}) => call("createTopic", { topic, partitions, config }),
    configureTopic: (topic, config) => call("configureTopic", { topic, config }),
    deleteTopic: (topic) => call("deleteTopic", { topic }),
    deleteRecords: (topic, partition, before) => call("deleteRecords", { topic, partition, before }),
    addPartitions: (topic, partitions) => call("addPartitions", { topic, partitions }),
    offsets,
    settled: (topic) =>
      until(`no transaction on ${topic} is open`, async () =>
        isDeepStrictEqual(await offsets(topic, "last-stable"), await offsets(topic, "high-watermark")),
      ),
    async read(topic, { partition, from = {}, isolation = "read_committed" } = {}) {
      const request = { topic, partition: partition ?? null, from, isolation, timeoutMs: readTimeoutMs };
      return (await call<JavaRecord[]>("read", request)).map(fromJava);
    },
    partitionFor: (key, partitions) => call("partitionFor", { key: toJava(key), partitions }),
    async producer({ transactionalId, compression = "none", properties = {} } = {}) {
      const producer = String(producers++);
      const transactional = transactionalId === undefined ? {} : { "transactional.id": transactionalId };
      const all = { "linger.ms": 1000, "compression.type": compression, ...transactional, ...properties };
      await call("openProducer", { producer, properties: all });
      return {
        begin: () => call("begin", { producer }),
        send: (...records) => call("send", { producer, records: records.map(outgoing) }),
        commit: () => call("commit", { producer }),
        abort: () => call("abort", { producer }),
        close: () => call("close", { producer }),
        [Symbol.asyncDispose]: () => call("close", { producer }),
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Answer {
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** Questions and answers come in the same order. */
function conversation(child: ChildProcess) {
  const { stdin, stdout } = child as { stdin: Socket; stdout: Socket } & ChildProcess;
  const waiting: { resolve: (result: never) => void; reject: (error: Error) => void }[] = [];
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  ended.then(() => {
    for (const { reject } of waiting.splice(0)) reject(new Error("the Java oracle ended"));
  });
  stdin.on("error", () => {}); // it ended, see above
  createInterface({ input: stdout }).on("line", (line) => {
    const { resolve, reject } = waiting.shift()!;
    if (waiting.length === 0) stdout.unref();
    const { result, error, message } = JSON.parse(line) as Answer;
    if (error === undefined) resolve(result as never);
    else reject(Object.assign(new Error(message), { name: error }));
  });
  // An oracle that nobody closes shall not keep this process from its end.
  child.unref();
  stdin.unref();
  stdout.unref();

  function call<Result = void>(method: string, parameters: object): Promise<Result> {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("the Java oracle has ended");
    stdout.ref();
    stdin.write(`${JSON.stringify({ method, parameters })}\n`);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }
  async function close(): Promise<void> {
    child.ref();
    stdin.end();
    await ended;
  }
  return { call, close };
}

type Base64 = string | null;

interface JavaRecord extends Omit<OracleRecord, "key" | "value" | "headers"> {
  readonly key: Base64;
  readonly value: Base64;
  readonly headers: readonly { readonly name: string; readonly value: Base64 }[];
}

function fromJava({ key, value, headers, ...place }: JavaRecord): OracleRecord {
  const bytes = (text: Base64) => (text === null ? null : Buffer.from(text, "base64"));
  return {
    ...place,
    key: bytes(key),
    value: bytes(value),
    headers: headers.map((header) => [header.name, bytes(header.value)]),
  };
}

function outgoing({ topic, partition, timestamp, key, value, headers = [] }: OutgoingRecord) {
  const named = headers.map(([name, one]) => ({ name, value: toJava(one) }));
  return { topic, partition, timestamp, key: toJava(key), value: toJava(value), headers: named };
}

function toJava(bytes: Buffer | string | null | undefined): Base64 {
  return bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString("base64");
}
