/** `npm run bench:cost`: what an always-busy pipeline costs on AWS (`--help` says more). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startEmulator } from "../../support/emulator/emulator.ts";
import { clientsOf } from "../../support/emulator/services.ts";
import { type Oracle, startOracle } from "../../support/kafka/oracle.ts";
import { startKafkaBehind } from "../../support/kafka/proxied.ts";
import { emit, optionsOrExit, say, wholeNumber } from "../../support/program.ts";
import { type SocketProxy, startProxy } from "../../support/socket-proxy.ts";
import { checkCounts } from "./check.ts";
import { Feed } from "./feed.ts";
import { Measuring, type Scenario } from "./measure.ts";
import { priceDate, region } from "./prices.ts";
import { figuresOf, report, titleOf } from "./report.ts";

const help = `Deploys a windowed word count (examples/word-count-kafka.ts) to an emulator of AWS, feeds it steadily, tells what an epoch asks of
each service and where its time goes, counts what AWS would bill, prices that, and compares it with Managed Service for Apache Flink.

npm run bench:cost -- [options]

  --intervals LIST  seconds between epochs (default 1,10,60); each is a pipeline of its own; 0: one right after the other
  --mode M          fused, plain or both (default both): epochs in one function, or by the state machine alone
  --rate N          records a second, of ten words each (default 1,000)
  --epochs N        epochs to measure, at the least (default 3)
  --seconds N       and for so long (default 130; one round of fused epochs takes a minute)
  --memory N        MiB of the functions that process records (default: the construct's)
  --apart           one pipeline after the other, rather than all at once
  --json            a JSON line for each pipeline, to standard output
  --help            this text

Tables go to standard error. It takes about six minutes with the defaults, and needs Java and Maven (for Kafka) and Python 3 with venv
(for the emulator). Prices are those of ${region} on ${priceDate} (test/bench/cost/prices.ts).

What is counted how: state transitions by the executions' histories; requests to DynamoDB, S3 and Kafka by proxies before them,
request units by the documented rules; durations and phases as the functions log them, which have this machine's speed and
assumed latencies of DynamoDB and S3 (test/bench/cost/latencies.ts). Records arrive on four partitions; a mapping that invokes the
trigger every five seconds is played. Every result is compared with an independent count.
`;

interface Options {
  readonly scenarios: readonly Scenario[];
  readonly rate: number;
  readonly epochs: number;
  readonly seconds: number;
  readonly memory: number | undefined;
  readonly apart: boolean;
  readonly json: boolean;
}

const input = "lines";
const partitions = 4;

async function bench({ scenarios, rate, epochs, seconds, memory, apart, json }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "epochflow-cost-"));
  try {
    say("starting a broker and an emulator of AWS");
    await using emulator = await startEmulator({ reachesHost: true });
    using clients = clientsOf(emulator.endpoint);
    await using stack = new AsyncDisposableStack();
    const proxied: Proxied[] = [];
    for (const scenario of scenarios) proxied.push({ scenario, kafka: stack.use(await startProxy("127.0.0.1:0")) });
    await using broker = await startKafkaBehind(proxied.map(({ kafka }) => kafka));
    await using oracle = await startOracle(broker.bootstrap);
    const around = { emulator, clients, oracle, bootstrap: broker.bootstrap, folder, epochs, seconds };
    const groups = apart ? proxied.map((one) => [one]) : [proxied];
    const all = [];
    for (const [index, group] of groups.entries()) {
      const topic = `${input}-${index}`;
      await oracle.createTopic(topic, partitions);
      all.push(...(await measure(group, { ...around, input: topic, ...(memory !== undefined && { memory }) }, rate)));
    }
    const figures = all.map(figuresOf);
    if (json) for (const one of figures) emit({ rate, prices: priceDate, region, ...one });
    say(`\n${rate.toLocaleString("en")} records a second\n\n${report(figures)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Around = Parameters<typeof Measuring.deploy>[1] & { readonly bootstrap: string };

interface Proxied {
  readonly scenario: Scenario;
  /** Its own way to the broker, by which its requests are counted. */
  readonly kafka: SocketProxy;
}

/** Several pipelines at once, which read the same topic. */
async function measure(proxied: readonly Proxied[], around: Around, rate: number) {
  await using stack = new AsyncDisposableStack();
  const measuring: Measuring[] = [];
  for (const { scenario, kafka } of proxied) {
    say(`deploying ${titleOf(scenario)}`);
    measuring.push(stack.use(await Measuring.deploy(scenario, around, kafka)));
  }
  const feed = stack.use(await Feed.open(around.bootstrap, around.input, partitions, rate));
  feed.start();
  await Promise.all(measuring.map((one) => one.start()));
  await Promise.all(
    measuring.map((one) => one.hasEnough((committed) => say(`${one.name}: epoch ${committed} is committed`))),
  );
  const stoppedAt = Date.now();
  await feed.stop();
  say("the input has ended");
  const results = await Promise.all(measuring.map((one) => one.result(stoppedAt)));
  for (const { topic, name } of measuring) await check(around.oracle, topic, feed, name);
  return results;
}

async function check(oracle: Oracle, topic: string, { counts }: Feed, name: string): Promise<void> {
  const rows = (await oracle.read(topic)).map(({ value }) => JSON.parse(String(value)));
  checkCounts(name, rows, counts);
  say(`${name}: all ${rows.length.toLocaleString("en")} results are right`);
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: {
      ...{ help: flag, json: flag, apart: flag, intervals: text, mode: text },
      ...{ rate: text, epochs: text, seconds: text, memory: text },
    },
  });
  if (values.help) return "help";
  const { intervals = "1,10,60", mode = "both", rate = "1000", epochs = "3", seconds = "130", memory } = values;
  return {
    scenarios: scenariosOf(intervals, mode),
    rate: wholeNumber("rate", rate),
    epochs: wholeNumber("epochs", epochs),
    seconds: wholeNumber("seconds", seconds),
    memory: memory === undefined ? undefined : wholeNumber("memory", memory),
    apart: values.apart ?? false,
    json: values.json ?? false,
  };
}

const modes: Readonly<Record<string, readonly boolean[]>> = { fused: [true], plain: [false], both: [true, false] };

function scenariosOf(intervals: string, mode: string): Scenario[] {
  if (!Object.hasOwn(modes, mode)) throw new Error(`--mode takes fused, plain or both, not "${mode}"`);
  return intervals.split(",").flatMap((one) => {
    const intervalSeconds = one.trim() === "0" ? 0 : wholeNumber("intervals", one.trim());
    return modes[mode]!.map((fused) => ({ intervalSeconds, fused }));
  });
}

const options = optionsOrExit("bench:cost", help, parseOptions);
if (options) await bench(options);
