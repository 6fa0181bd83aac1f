import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoLedger } from "../../../shared/adapters/dynamodb/ledger.ts";
import { S3ObjectStore } from "../../../shared/adapters/s3/object-store.ts";
import type { DecidedEpoch } from "../../../shared/epoch/epoch.ts";
import { PipelineStack } from "../../support/aws/pipeline-stack.ts";
import type { Emulator } from "../../support/emulator/emulator.ts";
import type { Clients } from "../../support/emulator/services.ts";
import type { Oracle } from "../../support/kafka/oracle.ts";
import type { SocketProxy } from "../../support/socket-proxy.ts";
import { type Fixed, fixedPartsOf } from "./bill.ts";
import { type Charge, type Driver, driversOf, isWithin, type Span } from "./charge.ts";
import { withCollection } from "./collector.ts";
import { type Phase, partsOf, phasesOf } from "./epoch-phases.ts";
import { chargesOfFunction, type LogEvent, metricsOf } from "./function-logs.ts";
import { requestWatcher } from "./kafka-requests.ts";
import { MeteringProxy } from "./metering-proxy.ts";
import { executionHistories, functionLogs } from "./readings.ts";
import { type Machine, type Transition, transitionsOf } from "./transitions.ts";
import { rowKind } from "./what.ts";

const machineFile = new URL("../../../statemachines/checkpoint.asl.json", import.meta.url);
const machine: Machine = JSON.parse(readFileSync(machineFile, "utf8"));

export interface Scenario {
  /** 0: an epoch begins as soon as the one before it is decided. */
  readonly intervalSeconds: number;
  readonly fused: boolean;
}

export interface Surroundings {
  readonly emulator: Emulator;
  readonly clients: Clients;
  readonly oracle: Oracle;
  readonly folder: string;
  /** The topic that is fed. */
  readonly input: string;
  /** Epochs to measure, at the least, and seconds. */
  readonly epochs: number;
  readonly seconds: number;
  /** MiB of the functions that process records; by default the construct's. */
  readonly memory?: number;
}

export interface Measurement extends Scenario {
  readonly epochs: number;
  readonly records: number;
  readonly seconds: number;
  readonly drivers: readonly Driver[];
  readonly phases: readonly Phase[];
  readonly fixed: Fixed;
  /** Bytes of snapshots and the like that an epoch writes. */
  readonly stateBytes: number;
  /** Mean bytes of the ledger's rows, by kind: whatever is above a multiple of 1,024 costs another unit each time that it is written. */
  readonly rowBytes: Readonly<Record<string, number>>;
}

/** The mapping of a topic invokes the trigger so often while records come. */
const wakeEveryMs = 5_000;
/** Epochs before the measurement. */
const warmUp = 2;

/** One pipeline, from its deployment to the end of its input. */
export class Measuring implements AsyncDisposable {
  readonly name: string;
  readonly topic: string;
  readonly #scenario: Scenario;
  readonly #around: Surroundings;
  readonly #proxy: MeteringProxy;
  readonly #stack: PipelineStack;
  readonly #kafkaRequests: Charge[] = [];
  #wakingUp: NodeJS.Timeout | undefined;
  #startedAt = 0;

  private constructor(scenario: Scenario, around: Surroundings, proxy: MeteringProxy, kafka: SocketProxy) {
    this.#scenario = scenario;
    this.#around = around;
    this.#proxy = proxy;
    this.name = `cost-${scenario.intervalSeconds}s-${scenario.fused ? "fused" : "plain"}`;
    this.topic = `counts-${this.name}`;
    const { input, memory } = around;
    kafka.watch = requestWatcher((name) =>
      this.#kafkaRequests.push({ at: Date.now(), what: `Kafka ${name}`, usage: {} }),
    );
    this.#stack = new PipelineStack(
      { ...around, folder: join(around.folder, this.name) },
      {
        stack: this.name,
        props: {
          entry: "examples/word-count-kafka.ts",
          parameters: { brokers: kafka.address, input, output: this.topic },
          policy: { ...paceOf(scenario), fused: scenario.fused },
          ...(memory !== undefined && { memory }),
        },
        environment: { AWS_ENDPOINT_URL: proxy.endpoint },
      },
    );
  }

  /** @param kafka a way to the broker for this pipeline alone */
  static async deploy(scenario: Scenario, around: Surroundings, kafka: SocketProxy): Promise<Measuring> {
    const measuring = new Measuring(scenario, around, await MeteringProxy.start(around.emulator.endpoint), kafka);
    await around.oracle.createTopic(measuring.topic, 4);
    await measuring.#stack.deploy();
    return measuring;
  }

  async start(): Promise<void> {
    this.#startedAt = Date.now();
    await this.#wake();
    this.#wakingUp = setInterval(() => void this.#wake().catch(() => {}), wakeEveryMs);
  }

  /** Resolves once enough epochs are committed, and enough time is over since the first ones were. */
  async hasEnough(progress: (committed: number) => void): Promise<void> {
    const { epochs, seconds } = this.#around;
    let shown = -1;
    let until = Number.POSITIVE_INFINITY;
    for (;;) {
      const { committed } = (await this.#ledger().head()) ?? { committed: 0 };
      if (committed !== shown) progress(committed);
      if (committed >= warmUp) until = Math.min(until, Date.now() + seconds * 1000);
      if (committed > warmUp + epochs && Date.now() >= until) return;
      shown = committed;
      await sleep(500);
    }
  }

  /** After the end of the input: what it cost, between two looks of the state machine at what comes next. */
  async result(stoppedAt: number): Promise<Measurement> {
    // It may rest for a whole interval before it sees the end of the input.
    while ((await this.#stack.statuses()).includes("RUNNING")) await sleep(500);
    clearInterval(this.#wakingUp);
    const { emulator, clients } = this.#around;
    const { stateMachine, functions } = this.#stack.parts;
    // Whether or not it has come to that by itself: once shows what it costs.
    await this.#stack.invoke("collect", {});
    const histories = await executionHistories(clients, stateMachine);
    const transitions = histories.flatMap((history) => transitionsOf(history, machine));
    const logs = await functionLogs(emulator, functions, this.#startedAt);
    const committed = await this.#committed();
    const span = spanOf(transitions, committed[warmUp - 1]!.committedAt!, stoppedAt);
    const measured = committed.filter((row) => isWithin(span, row.committedAt!));
    const measuredEpochs = new Set(measured.map(({ epoch }) => epoch));
    const parts = logs.flatMap(({ events }) => partsOf(events));
    const charges: Charge[] = [
      ...this.#proxy.charges,
      ...this.#kafkaRequests,
      ...transitions.map(({ at, state }) => ({ at, what: `state ${state}`, usage: { stateTransitions: 1 } })),
      ...logs.flatMap(({ name, events }) => chargesOfFunction(name, events, span)),
    ];
    const state = this.#proxy.written.filter(({ at }) => isWithin(span, at));
    return {
      ...this.#scenario,
      epochs: measured.length,
      records: measured.reduce((sum, { decision }) => sum + decision.counts.records, 0),
      seconds: (span.to - span.from) / 1000,
      drivers: driversOf(withCollection(charges, this.#proxy.rows(), measured.length, span), span),
      phases: phasesOf(parts, this.#proxy.requests, (epoch) => measuredEpochs.has(epoch)),
      fixed: this.#fixed(logs.flatMap(({ events }) => events)),
      stateBytes: state.reduce((sum, { bytes }) => sum + bytes, 0) / measured.length,
      rowBytes: meanBytes(this.#proxy.rows()),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#wakingUp);
    await this.#proxy[Symbol.asyncDispose]();
  }

  async #wake(): Promise<void> {
    await this.#stack.invoke("trigger", { eventSource: "SelfManagedKafka", records: {} });
  }

  async #committed(): Promise<DecidedEpoch[]> {
    const ledger = this.#ledger();
    const rows = await ledger.epochs({ from: 1, to: (await ledger.head())!.committed });
    return rows.filter((row) => row.status === "decided");
  }

  #ledger(): DynamoLedger {
    const { clients } = this.#around;
    const { table, bucket } = this.#stack.parts;
    const objects = new S3ObjectStore({ client: clients.s3, bucket });
    return new DynamoLedger({ client: clients.dynamodb, table, pipeline: "word-count-kafka", objects });
  }

  #fixed(events: readonly LogEvent[]): Fixed {
    const file = join(this.#around.folder, this.name, "cdk.out", `${this.name}.template.json`);
    return fixedPartsOf(JSON.parse(readFileSync(file, "utf8")), metricsOf(events).size);
  }
}

/** The interval is also what the size of an epoch adapts to. */
const paceOf = ({ intervalSeconds }: Scenario) =>
  intervalSeconds === 0 ? { intervalMs: 1000, paceMs: 0 } : { intervalMs: intervalSeconds * 1000 };

/** From one look at what comes next to another, so that the state machine's rounds, and what functions do in them, are whole. */
function spanOf(transitions: readonly Transition[], from: number, to: number): Span {
  const looks = transitions.filter(({ at, state }) => state === "What next?" && at > from && at < to);
  const times = looks.map(({ at }) => at);
  if (times.length < 2) throw new Error("the state machine has not come round once: measure longer, with --seconds");
  return { from: Math.min(...times), to: Math.max(...times) };
}

function meanBytes(rows: readonly (readonly [key: string, bytes: number])[]): Record<string, number> {
  const kinds = Map.groupBy(rows, ([key]) => rowKind(key));
  const means = [...kinds].map(([kind, its]) => [kind, its.reduce((sum, [, bytes]) => sum + bytes, 0) / its.length]);
  return Object.fromEntries(means);
}
