/** `npm run kafka`: a broker to play with (`--help` says more). */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { optionsOrExit, say } from "../program.ts";
import { type KafkaBroker, type KafkaVersion, kafkaVersions, startKafka } from "./broker.ts";

const help = `Starts Apache Kafka on this machine: one broker, whose data goes with it.

npm run kafka -- [options]

  --version V              ${kafkaVersions.join(" or ")} (default ${kafkaVersions[0]})
  --port P                 port on 127.0.0.1 (default 9092)
  --topic NAME:PARTITIONS  a topic to create, as often as needed (default: lines:4 and counts:4)
  --help                   this text

It needs a Docker engine that has the image apache/kafka:V, or else Java (a JDK, 17 or newer) and Maven.
`;

interface Topic {
  readonly topic: string;
  readonly numPartitions: number;
}

interface Options {
  readonly version: KafkaVersion;
  readonly port: number;
  readonly topics: readonly Topic[];
}

async function play({ version, port, topics }: Options): Promise<void> {
  const stop = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  say(`Starting Kafka ${version}; the first time takes a while, since it is fetched.`);
  await using broker = await startKafka({ version, port });
  await createTopics(broker, topics);
  say(usage(broker, topics));
  const running = setInterval(() => {}, 1 << 30); // the broker alone does not keep us alive
  await stop;
  clearInterval(running);
  say("\nStopping.");
}

async function createTopics({ bootstrap }: KafkaBroker, topics: readonly Topic[]): Promise<void> {
  const admin = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createTopics({ topics: [...topics] });
  await admin.disconnect();
}

function usage(broker: KafkaBroker, topics: readonly Topic[]): string {
  const { version, launcher, bootstrap } = broker;
  const first = topics[0]!.topic;
  const last = topics.at(-1)!.topic;
  const list = topics.map(({ topic, numPartitions }) => `${topic} (${numPartitions} partitions)`).join(", ");
  return `
Kafka ${version} is ready (${launcher === "jars" ? "a Java process" : "a container"}).

  brokers  ${bootstrap}
  topics   ${list}

More topics, or lines to read and results to watch, from another terminal:

  ${broker.command("topics")} --bootstrap-server ${bootstrap} --create --topic NAME --partitions 4

  ${broker.command("console-producer")} --bootstrap-server ${bootstrap} --topic ${first}

  ${broker.command("console-consumer")} --bootstrap-server ${bootstrap} --topic ${last} --from-beginning --isolation-level read_committed

Ctrl-C stops it, and its data is gone.`;
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { help: { type: "boolean" }, version: text, port: text, topic: { type: "string", multiple: true } },
  });
  if (values.help) return "help";
  const version = kafkaVersions.find((known) => known === (values.version ?? kafkaVersions[0]));
  if (!version) throw new Error(`--version takes ${kafkaVersions.join(" or ")}, not "${values.version}"`);
  const topics = (values.topic ?? ["lines:4", "counts:4"]).map(parseTopic);
  return { version, port: wholeNumber("--port", values.port ?? "9092"), topics };
}

function parseTopic(text: string): Topic {
  const [topic, partitions, ...rest] = text.split(":");
  if (!topic || !partitions || rest.length > 0) throw new Error(`--topic takes NAME:PARTITIONS, not "${text}"`);
  return { topic, numPartitions: wholeNumber("--topic NAME:PARTITIONS", partitions) };
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`${option} takes a whole number above 0, not "${text}"`);
}

const options = optionsOrExit("kafka", help, parseOptions);
if (options)
  await play(options).catch((error) => {
    say(`\n${error.message}`);
    process.exitCode = 1;
  });
