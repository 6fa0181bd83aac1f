/**
 * `npm run bench:guarantees [-- --lines N --epochs N --runs N]`: a word count under each guarantee, from a file to files and to a topic of a real broker, all in one process and in
 * turn. Every result is compared with an independent count. Ratios are what to look at: the rates are those of one thread.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../../examples/support/table.ts";
import { transitionsAfter } from "../../functions/transitions.ts";
import { runWith } from "../../local/run.ts";
import type { Internals } from "../../local/session.ts";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";
import type { KafkaClient } from "../../shared/adapters/kafka/client.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { createKafkaSink } from "../../shared/adapters/kafka/sink/sink.ts";
import { systemRandom } from "../../shared/adapters/system/random.ts";
import type { Engine } from "../../shared/epoch/engine.ts";
import type { PlanAnswer } from "../../shared/epoch/plan.ts";
import { count, files, json, kafka, pipeline, tumbling } from "../../shared/index.ts";
import type { KafkaSinkSettings } from "../../shared/pipeline/connectors/kafka.ts";
import { type Guarantee, guarantees } from "../../shared/pipeline/topology.ts";
import type { Ledger } from "../../shared/ports/ledger.ts";
import type { TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startKafka } from "../support/kafka/broker.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { emit, say } from "../support/program.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "60000" },
    epochs: { type: "string", default: "60" },
    runs: { type: "string", default: "3" },
  },
});
const [lines, epochs, runs] = [values.lines, values.epochs, values.runs].map(Number) as [number, number, number];
const words = Array.from({ length: 50 }, (_, index) => `w${index}`);
const windowMs = 500;

interface Figures {
  readonly seconds: number;
  /** Calls for each epoch. */
  readonly reads: number;
  readonly writes: number;
  readonly broker: number;
  readonly transitions: number;
}

/** Verbs of the ledger that change nothing. */
const reading = new Set(["head", "wake", "epoch", "epochs", "acks", "units"]);

class Counter {
  readonly counts = { reads: 0, writes: 0, broker: 0, transitions: 0 };

  ledger(ledger: Ledger): Ledger {
    const counted = Object.entries(ledger).filter(([, verb]) => typeof verb === "function");
    const verbs = counted.map(([name, verb]) => [
      name,
      (...given: unknown[]) => {
        this.counts[reading.has(name) ? "reads" : "writes"]++;
        return verb.call(ledger, ...given);
      },
    ]);
    return { ...ledger, ...Object.fromEntries(verbs), close: () => ledger.close() };
  }

  client(client: KafkaClient): KafkaClient {
    return new Proxy(client, {
      get: (_, name) => {
        const method = Reflect.get(client, name);
        return (...given: unknown[]) => {
          // Two requests: AddOffsetsToTxn and TxnOffsetCommit.
          this.counts.broker += name === "addGroupOffset" ? 2 : 1;
          return method.call(client, ...given);
        };
      },
    });
  }

  internals(sink?: (engine: Engine) => TwoPhaseCommitSink): Internals {
    return {
      engine: (engine) => ({
        ...engine,
        ledger: this.ledger(engine.ledger),
        ...(sink && { sink: () => sink(engine) }),
      }),
      handlers: (handlers) => ({
        ...handlers,
        Plan: async (input: never) => {
          const answer = (await handlers.Plan!(input)) as PlanAnswer;
          this.counts.transitions += 1 + transitionsAfter(answer);
          return answer;
        },
      }),
    };
  }
}

const input = (folder: string) =>
  files.source({ path: folder, value: (line) => line.split(" "), timestamp: ([time]) => Number(time) });

function wordCount(guarantee: Guarantee, from: string) {
  return pipeline("words", { guarantee })
    .from(input(from))
    .keyBy(([, word]) => word!)
    .window(tumbling(windowMs))
    .aggregate({ count: count() })
    .map(({ key, windowStart, count }) => ({ key, windowStart, count }));
}

function expected(): string[] {
  const counts = new Map<string, number>();
  for (let index = 0; index < lines; index++) {
    const name = `${words[index % words.length]} ${index - (index % windowMs)}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).sort();
}

function check(rows: readonly string[]): void {
  const found = rows
    .map((row) => JSON.parse(row))
    .map(({ key, windowStart, count }) => `${key} ${windowStart} ${count}`);
  const [one, other] = [found.sort().join("\n"), expected().join("\n")];
  if (one !== other) throw new Error(`wrong: ${found.length} rows, and there should be ${expected().length}`);
}

async function measured(counter: Counter, work: () => Promise<{ progress: { decided: number } }>): Promise<Figures> {
  const began = performance.now();
  const { progress } = await work();
  const seconds = (performance.now() - began) / 1000;
  const an = (calls: number) => calls / progress.decided;
  const { reads, writes, broker, transitions } = counter.counts;
  return { seconds, reads: an(reads), writes: an(writes), broker: an(broker), transitions: an(transitions) };
}

const options = (state: string) => ({ state, epochRecords: Math.ceil(lines / epochs), parallelism: 1 });

async function toFiles(guarantee: Guarantee, folder: string, from: string): Promise<Figures> {
  const counter = new Counter();
  const definition = wordCount(guarantee, from).to(files.sink({ path: join(folder, "out") }), { id: "counts" });
  const figures = await measured(counter, () =>
    runWith(definition, options(join(folder, "state")), counter.internals()),
  );
  check(await Array.fromAsync(readRows(join(folder, "out"))));
  return figures;
}

async function toTopic(guarantee: Guarantee, folder: string, from: string, brokers: string, topic: string) {
  const counter = new Counter();
  const client = createKafkaClient({ brokers: [brokers], clientId: "bench" });
  const target = kafka.sink({
    connection: kafka.connection({ brokers }),
    topic,
    key: (row: { key: string }) => row.key,
    value: json(),
  });
  const definition = wordCount(guarantee, from).to(target, { id: "counts" });
  let sink: TwoPhaseCommitSink | undefined;
  const ports = (engine: Engine) => ({ clock: engine.clock, random: systemRandom });
  const internals = counter.internals((engine) => {
    const settings = target.options as unknown as KafkaSinkSettings<unknown>;
    sink ??= createKafkaSink(
      settings,
      counter.client(client),
      engine.objects,
      ports(engine),
    ) as unknown as TwoPhaseCommitSink;
    return sink;
  });
  const figures = await measured(counter, () => runWith(definition, options(join(folder, "state")), internals));
  await client.close();
  return figures;
}

const median = (all: readonly number[]) => all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)]!;

using folder = temporaryFolder();
const from = join(folder.path, "in");
mkdirSync(from);
const text = Array.from({ length: lines }, (_, index) => `${index} ${words[index % words.length]}\n`);
writeFileSync(join(from, "lines"), text.join(""));

await using broker = await startKafka();
await using oracle = await startOracle(broker.bootstrap);
const figures = new Map<string, Figures[]>();
for (let run = 0; run <= runs; run++)
  for (const guarantee of guarantees)
    for (const target of ["files", "Kafka"] as const) {
      const place = join(folder.path, `${run}-${guarantee}-${target}`);
      const topic = `counts-${run}-${guarantee}`;
      mkdirSync(place);
      if (target === "Kafka") await oracle.createTopic(topic, 3);
      const one =
        target === "files"
          ? await toFiles(guarantee, place, from)
          : await toTopic(guarantee, place, from, broker.bootstrap, topic);
      if (target === "Kafka") check((await oracle.read(topic)).map(({ value }) => String(value)));
      // The first one warms up.
      if (run > 0) figures.set(`${target} ${guarantee}`, [...(figures.get(`${target} ${guarantee}`) ?? []), one]);
      say(`run ${run}, ${guarantee} to ${target}: ${one.seconds.toFixed(2)} s`);
    }

const rows = ["files", "Kafka"].flatMap((target) => {
  const secondsOf = (guarantee: Guarantee) =>
    median(figures.get(`${target} ${guarantee}`)!.map(({ seconds }) => seconds));
  return guarantees.map((guarantee) => {
    const all = figures.get(`${target} ${guarantee}`)!;
    const middle = (of: keyof Figures) => median(all.map((one) => one[of]));
    const rate = lines / secondsOf(guarantee);
    const ratio = secondsOf("exactly-once") / secondsOf(guarantee);
    emit({
      kind: "guarantee",
      target,
      guarantee,
      rate,
      ratio,
      ...Object.fromEntries(
        (["reads", "writes", "broker", "transitions"] as const).map((name) => [name, middle(name)]),
      ),
    });
    return [
      ...[target, guarantee, Math.round(rate).toLocaleString("en"), ratio.toFixed(2)],
      ...(["reads", "writes", "broker", "transitions"] as const).map((name) => middle(name).toFixed(1)),
    ];
  });
});
const titles = [
  "to",
  "guarantee",
  "records/s",
  "× exactly-once",
  "ledger reads",
  "ledger writes",
  "broker requests",
  "transitions",
];
say(formatTable(rows.map((row) => Object.fromEntries(titles.map((title, index) => [title, row[index]!])))));
