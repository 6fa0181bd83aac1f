import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readRows } from "../../../shared/adapters/filesystem/reader.ts";
import { collect } from "../../../shared/testing/collect.ts";
import { temporaryFolder } from "../../support/folder.ts";
import type { OracleRecord } from "../../support/kafka/oracle.ts";
import { Disk } from "./disk.ts";
import type { Found } from "./evaluate.ts";
import type { InputLine } from "./records.ts";
import { type Shape, type SinkId, sinkIds } from "./shape.ts";
import type { KafkaWorld } from "./world.ts";

const pipelineModule = new URL("pipeline.ts", import.meta.url).href;

/** Where a round's pipeline lies, reads and writes: folders, two of them on small disks where that is permitted, and topics. */
export class RoundPlace implements Disposable {
  readonly folder = temporaryFolder();
  readonly module = join(this.folder.path, "campaign.ts");
  readonly stateDisk = new Disk(join(this.folder.path, "state-disk"));
  readonly outputDisk = new Disk(join(this.folder.path, "output-disk"));
  readonly state = join(this.stateDisk.folder, "state");
  readonly shape: Shape;
  readonly parameters: Readonly<Record<string, string>>;
  readonly #input = join(this.folder.path, "input");
  readonly #kafka: KafkaWorld | undefined;
  readonly #topic: (name: string) => string;
  #version = 0;

  /** @param name for topics, unlike any other on the broker */
  constructor(name: string, shape: Shape, kafka: KafkaWorld | undefined) {
    this.shape = shape;
    this.#kafka = kafka;
    this.#topic = (what) => `${name}-${what}`;
    const sinks = sinkIds.map((id) => [id, shape.sinks[id] === "kafka" ? this.#topic(id) : this.output(id)]);
    this.parameters = {
      input: shape.source === "kafka" ? this.#topic("input") : this.#input,
      ...(kafka && { brokers: kafka.proxy.address }),
      ...Object.fromEntries(sinks),
    };
    mkdirSync(this.#input);
    this.deploy();
  }

  async createTopics(): Promise<void> {
    const { source, partitions, targets } = this.shape;
    if (source === "kafka") await this.#kafka!.oracle.createTopic(this.#topic("input"), partitions);
    for (const id of this.#sinksIn("kafka")) await this.#kafka!.oracle.createTopic(this.#topic(id), targets);
  }

  /** New code of the same topology. */
  deploy(): number {
    this.#version += 1;
    const source = `import { campaignPipeline } from ${JSON.stringify(pipelineModule)};
export default campaignPipeline(${JSON.stringify(this.shape)}, ${this.#version});
`;
    writeFileSync(this.module, source);
    return this.#version;
  }

  /** @param how "in vain": their producer aborts them, and nobody may see them */
  async append(lines: readonly InputLine[], how: "plainly" | "in a transaction" | "in vain"): Promise<void> {
    if (this.shape.source === "kafka") await this.#send(lines, how);
    else if (how !== "in vain")
      for (const [partition, some] of Map.groupBy(lines, (line) => line.partition))
        appendFileSync(join(this.#input, `${partition}.txt`), some.map(({ text }) => `${text}\n`).join(""));
  }

  /** Of another producer, in the topic that is read. @returns what ends it, in vain */
  async openTransaction(): Promise<() => Promise<void>> {
    const topic = this.#topic("input");
    const producer = await this.#kafka!.oracle.producer({ transactionalId: `${topic}-foreign` });
    await producer.begin();
    await producer.send({ topic, partition: 0, value: "aborted" });
    return async () => {
      await producer.abort();
      await producer.close();
    };
  }

  async read(): Promise<Found> {
    const found = new Map<SinkId, unknown[]>();
    for (const id of sinkIds)
      found.set(
        id,
        (await this.#texts(id)).map((text) => JSON.parse(text)),
      );
    return Object.fromEntries(found) as unknown as Found;
  }

  /** Folders that files sinks have written to. */
  get outputs(): string[] {
    return this.#sinksIn("files")
      .map((id) => this.output(id))
      .filter((folder) => existsSync(folder));
  }

  output(id: SinkId): string {
    return join(this.outputDisk.folder, id);
  }

  /** Copies all there is. */
  keep(folder: string): void {
    cpSync(this.folder.path, folder, { recursive: true });
  }

  [Symbol.dispose](): void {
    this.stateDisk[Symbol.dispose]();
    this.outputDisk[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }

  #sinksIn(place: "kafka" | "files"): SinkId[] {
    return sinkIds.filter((id) => this.shape.sinks[id] === place);
  }

  async #send(lines: readonly InputLine[], how: "plainly" | "in a transaction" | "in vain"): Promise<void> {
    const topic = this.#topic("input");
    const records = lines.map(({ partition, text: value }) => ({ topic, partition, value }));
    const transactional = how === "plainly" ? {} : { transactionalId: `${topic}-feed` };
    await using producer = await this.#kafka!.oracle.producer(transactional);
    if (how !== "plainly") await producer.begin();
    await producer.send(...records);
    if (how === "in a transaction") await producer.commit();
    if (how === "in vain") await producer.abort();
  }

  async #texts(id: SinkId): Promise<string[]> {
    if (this.shape.sinks[id] === "files") return existsSync(this.output(id)) ? collect(readRows(this.output(id))) : [];
    const { oracle } = this.#kafka!;
    await oracle.settled(this.#topic(id));
    const records = await oracle.read(this.#topic(id));
    if (id === "rows") checkPartitions(records);
    return records.map(({ value }) => String(value));
  }
}

/** @throws if a key is in two partitions: then its rows have no order */
function checkPartitions(records: readonly OracleRecord[]): void {
  const partitions = new Map<string, number>();
  for (const { key, partition } of records) {
    const known = partitions.get(String(key)) ?? partition;
    partitions.set(String(key), known);
    if (known !== partition) throw new Error(`key ${key} is in partitions ${known} and ${partition}`);
  }
}
