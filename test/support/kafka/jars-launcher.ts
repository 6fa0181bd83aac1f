import { type ChildProcess, spawn } from "node:child_process";
import { fstatSync, openSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { classArchive } from "./class-archive.ts";
import { kafkaClassPath } from "./jars.ts";
import { clusterId, type KafkaTool, type Launch, type LaunchedBroker, type Launcher, started } from "./launcher.ts";
import type { KafkaVersion } from "./versions.ts";

/** Longest time that a broker may take to start, on a machine that does much else. */
const patienceMs = 120_000;

/** Of the log, in an error. */
const tailBytes = 4000;

function toolClass(tool: KafkaTool, version: KafkaVersion): string {
  if (tool === "topics") return "org.apache.kafka.tools.TopicCommand";
  if (tool === "console-consumer") return "org.apache.kafka.tools.consumer.ConsoleConsumer";
  return version.startsWith("3.") ? "kafka.tools.ConsoleProducer" : "org.apache.kafka.tools.ConsoleProducer";
}

/** A Java process of `java/Broker.java`, which ends when its standard input does. */
export const jarsLauncher: Launcher = {
  name: "jars",
  bind: "127.0.0.1",
  async launch(launch) {
    const archive = await classArchive(launch.version, "Broker", async (options) => {
      const broker = await start(launch, options);
      await broker.end("SIGTERM");
    });
    return await start(launch, archive);
  },
};

async function start(launch: Launch, options: readonly string[]): Promise<JavaBroker> {
  const { version, folder, temporary, format, jvm } = launch;
  const classPath = await kafkaClassPath(version);
  const logFile = openSync(join(folder, "broker.log"), "a+");
  const begin = fstatSync(logFile).size;
  const child = spawn(
    "java",
    [
      ...options,
      ...jvm,
      "-Djava.awt.headless=true",
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
      "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
      "-Dorg.slf4j.simpleLogger.showDateTime=true",
      ...["-cp", classPath, "Broker", folder, temporary ? "remove" : "keep", clusterId, ...format],
    ],
    // To a file, and not through a pipe of ours that a busy test would let fill.
    { stdio: ["pipe", logFile, logFile] },
  );
  const broker = new JavaBroker(child, logFile, begin, (tool) => `-cp '${classPath}' ${toolClass(tool, version)}`);
  await broker.whenStarted();
  return broker;
}

class JavaBroker implements LaunchedBroker {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #logFile: number;
  /** Where this process's part of the log begins. */
  readonly #begin: number;
  readonly #classOf: (tool: KafkaTool) => string;
  #failure: Error | undefined;

  constructor(child: ChildProcess, logFile: number, begin: number, classOf: (tool: KafkaTool) => string) {
    this.#child = child;
    this.#logFile = logFile;
    this.#begin = begin;
    this.#classOf = classOf;
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", (error) => {
        this.#failure = error;
        resolve();
      });
    });
    child.stdin?.on("error", () => {}); // it ended
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async whenStarted(): Promise<void> {
    const giveUpAt = performance.now() + patienceMs;
    const alive = () => this.#child.exitCode === null && this.#child.signalCode === null && !this.#failure;
    while (alive() && performance.now() < giveUpAt && !this.#read(this.#begin).includes(started)) await sleep(20);
    if (!this.#read(this.#begin).includes(started)) {
      const what = alive() ? `did not start within ${patienceMs / 1000} s` : "ended while it started";
      await this.end("SIGKILL");
      throw new Error(`Kafka ${what}: ${this.#failure?.message ?? ""}\n${this.log()}`, { cause: this.#failure });
    }
    // A broker that nobody stops shall not keep this process from its end, which is the broker's too.
    this.#child.unref();
    (this.#child.stdin as Socket).unref();
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.ref();
    this.#child.kill(signal);
    await this.#ended;
  }

  log(): string {
    return this.#read(Math.max(this.#begin, fstatSync(this.#logFile).size - tailBytes));
  }

  command(tool: KafkaTool): string {
    return `java -Dorg.slf4j.simpleLogger.defaultLogLevel=error ${this.#classOf(tool)}`;
  }

  #read(from: number): string {
    const buffer = Buffer.alloc(fstatSync(this.#logFile).size - from);
    return buffer.toString("utf8", 0, readSync(this.#logFile, buffer, 0, buffer.length, from));
  }
}
