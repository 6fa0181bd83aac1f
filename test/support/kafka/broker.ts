import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./free-ports.ts";
import { type KafkaTool, type Launch, type LaunchedBroker, type Launcher, pickLauncher } from "./launcher.ts";
import { type Listener, type ListenerProtocol, type Settings, serverProperties } from "./settings.ts";
import { type KafkaVersion, kafkaVersions } from "./versions.ts";

export type { KafkaTool } from "./launcher.ts";
export type { ListenerProtocol, Settings } from "./settings.ts";
export { type KafkaVersion, kafkaVersions } from "./versions.ts";

export interface KafkaOptions {
  readonly version?: KafkaVersion;
  /** Port of the plaintext listener; one that is free by default. */
  readonly port?: number;
  /** Lines of `server.properties`, on top of those in `settings.ts`. Keys and certificates go in as PEM texts: a container sees no files of ours. */
  readonly settings?: Settings;
  /** Listeners besides the plaintext one, by name, such as `{ SECURE: "SASL_SSL" }`; each has a port of its own. */
  readonly listeners?: Readonly<Record<string, ListenerProtocol>>;
  /** Arguments of Kafka's `storage format`, such as `["--add-scram", "SCRAM-SHA-256=[name=…,password=…]"]`. */
  readonly format?: readonly string[];
  /** A folder that outlives `stop()`, with its data; by default a temporary one. */
  readonly directory?: string;
  /** Options of the Java virtual machine; by default it is small, and quick to start rather than fast. */
  readonly jvm?: readonly string[];
}

/** One broker on 127.0.0.1. It ends with the process that started it, however that ends. */
export interface KafkaBroker extends AsyncDisposable {
  readonly version: KafkaVersion;
  readonly launcher: Launcher["name"];
  /** `127.0.0.1:port` of the plaintext listener. */
  readonly bootstrap: string;
  /** The same of the listeners that were asked for, by name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Of the broker's process; another one after `restart`. */
  readonly pid: number;
  /** The last lines that the broker logged. */
  log(): string;
  /** Shuts the broker down in good order, and removes its data. */
  stop(): Promise<void>;
  /**
   * SIGKILL. The data stays, for `restart`. Kafka 4.4.0 then loses the markers of a transaction that was just committed (KAFKA-20734: a partition without a
   * leader counts as deleted): it stays open for ever, and holds up read_committed readers. So first wait until the oracle finds the topic settled, or kill 3.9.2.
   */
  kill(): Promise<void>;
  /** With the same data and ports, after a shutdown in good order if it still runs. `settings` come on top, from now on. */
  restart(settings?: Settings): Promise<void>;
  /** What a person types for one of Kafka's tools, up to its options. */
  command(tool: KafkaTool): string;
}

const host = "127.0.0.1";

const smallJvm = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** @throws Error with the end of the broker's log if it does not start */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaBroker> {
  const { version = kafkaVersions[0], directory } = options;
  const launcher = await pickLauncher(version);
  if (typeof launcher === "string") throw new Error(launcher);
  const folder = directory ?? mkdtempSync(join(tmpdir(), "epochflow-kafka-"));
  mkdirSync(folder, { recursive: true });
  const listeners = await listenersOf(options);
  const launch: Launch = {
    version,
    folder,
    temporary: directory === undefined,
    ports: listeners.map(({ port }) => port),
    format: options.format ?? [],
    jvm: options.jvm ?? smallJvm,
  };
  const broker = new Broker(launcher, launch, listeners, options.settings ?? {});
  try {
    await broker.restart();
  } catch (error) {
    await broker.stop();
    throw error;
  }
  return broker;
}

async function listenersOf({ port, listeners = {} }: KafkaOptions): Promise<Listener[]> {
  const named = Object.entries(listeners);
  const ports = await freePorts(1 + named.length);
  return [
    { name: "PLAINTEXT", protocol: "PLAINTEXT", port: port ?? ports[0]! },
    ...named.map(([name, protocol], index) => ({ name, protocol, port: ports[index + 1]! })),
  ];
}

class Broker implements KafkaBroker {
  readonly version: KafkaVersion;
  readonly launcher: Launcher["name"];
  readonly bootstrap: string;
  readonly addresses: Readonly<Record<string, string>>;
  readonly #launcher: Launcher;
  readonly #launch: Launch;
  readonly #listeners: readonly Listener[];
  readonly #removeFolder: () => void;
  #settings: Settings;
  #launched: LaunchedBroker | undefined;

  constructor(launcher: Launcher, launch: Launch, listeners: readonly Listener[], settings: Settings) {
    this.version = launch.version;
    this.launcher = launcher.name;
    this.addresses = Object.fromEntries(listeners.map(({ name, port }) => [name, `${host}:${port}`]));
    this.bootstrap = this.addresses.PLAINTEXT!;
    this.#launcher = launcher;
    this.#launch = launch;
    this.#listeners = listeners;
    this.#settings = settings;
    this.#removeFolder = () => {
      if (launch.temporary) rmSync(launch.folder, { recursive: true, force: true, maxRetries: 5 });
    };
    process.once("exit", this.#removeFolder);
  }

  get pid(): number {
    return this.#running.pid;
  }

  log(): string {
    return this.#launched?.log() ?? "";
  }

  command(tool: KafkaTool): string {
    return this.#running.command(tool);
  }

  async restart(settings: Settings = {}): Promise<void> {
    await this.#end("SIGTERM");
    this.#settings = { ...this.#settings, ...settings };
    const { folder } = this.#launch;
    const [controllerPort] = await freePorts(1);
    const place = { bind: this.#launcher.bind, host, data: join(folder, "data"), listeners: this.#listeners };
    writeFileSync(
      join(folder, "server.properties"),
      serverProperties({ ...place, controllerPort: controllerPort! }, this.#settings),
    );
    this.#launched = await this.#launcher.launch(this.#launch);
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    process.off("exit", this.#removeFolder);
    this.#removeFolder();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const launched = this.#launched;
    this.#launched = undefined;
    await launched?.end(signal);
  }

  get #running(): LaunchedBroker {
    if (!this.#launched) throw new Error(`the broker at ${this.bootstrap} does not run`);
    return this.#launched;
  }
}
