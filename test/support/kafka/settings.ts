export type Settings = Readonly<Record<string, string | number | boolean>>;

/** Security protocols of Kafka. */
export type ListenerProtocol = "PLAINTEXT" | "SSL" | "SASL_PLAINTEXT" | "SASL_SSL";

export interface Listener {
  readonly name: string;
  readonly protocol: ListenerProtocol;
  readonly port: number;
}

export interface BrokerPlace {
  /** Where the broker listens: 0.0.0.0 inside a container. */
  readonly bind: string;
  /** Under which host clients reach it. */
  readonly host: string;
  /** For Kafka's log folders. */
  readonly data: string;
  /** The first one is the broker's own too. */
  readonly listeners: readonly Listener[];
  readonly controllerPort: number;
}

/** The text of `server.properties` for a single broker that is its own controller. What a test sets takes precedence. */
export function serverProperties(place: BrokerPlace, settings: Settings): string {
  const { bind, host, data, listeners, controllerPort } = place;
  const each = (text: (listener: Listener) => string) => listeners.map(text).join(",");
  const all: Settings = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `${each(({ name, port }) => `${name}://${bind}:${port}`)},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": each(({ name, port }) => `${name}://${host}:${port}`),
    "listener.security.protocol.map": `${each(({ name, protocol }) => `${name}:${protocol}`)},CONTROLLER:PLAINTEXT`,
    "inter.broker.listener.name": listeners[0]!.name,
    "log.dirs": data,
    ...oneBroker,
    ...quick,
    ...settings,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${escaped(String(value))}\n`)
    .join("");
}

/** A broker on its own replicates nothing. */
const oneBroker: Settings = {
  "default.replication.factor": 1,
  "min.insync.replicas": 1,
  "offsets.topic.replication.factor": 1,
  "transaction.state.log.replication.factor": 1,
  "transaction.state.log.min.isr": 1,
  "share.coordinator.state.topic.replication.factor": 1,
  "share.coordinator.state.topic.min.isr": 1,
};

/** Small, and quick to start and to restart: after a kill the controller would let the broker in again after 9 seconds only. */
const quick: Settings = {
  "auto.create.topics.enable": false,
  "num.partitions": 1,
  // Event times of tests are years ago, and retention goes by them.
  "log.retention.ms": -1,
  "offsets.topic.num.partitions": 4,
  "transaction.state.log.num.partitions": 4,
  "share.coordinator.state.topic.num.partitions": 1,
  "group.initial.rebalance.delay.ms": 0,
  "num.network.threads": 2,
  "num.io.threads": 4,
  "background.threads": 2,
  "log.cleaner.dedupe.buffer.size": 16 << 20,
  // Shorter, and a broker on a busy machine takes itself for dead; then 4.4.0 may leave a transaction open for ever (KAFKA-20734). Longer, and restarts take as long.
  "broker.session.timeout.ms": 9000,
  "broker.heartbeat.interval.ms": 500,
};

/** Line breaks as in PEM texts, and backslashes, as `java.util.Properties` reads them. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}
