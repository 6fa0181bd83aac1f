import { MemoryLedger } from "../../adapters/memory/ledger.ts";
import { MemoryObjectStore } from "../../adapters/memory/object-store.ts";
import type { Engine } from "../../epoch/engine.ts";
import type { DecidedEpoch, EpochRow, Unit } from "../../epoch/epoch.ts";
import { executionName, parseObjectKey } from "../../epoch/names.ts";
import type { Policy } from "../../epoch/policy.ts";
import { fingerprint } from "../../pipeline/fingerprint.ts";
import type { Topology } from "../../pipeline/topology.ts";
import type { Executions } from "../../ports/executions.ts";
import type { Head, Ledger, Wake } from "../../ports/ledger.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { TwoPhaseCommitSink } from "../../ports/sink.ts";
import { StateStore } from "../../state/state-store.ts";
import { Broker } from "./broker.ts";
import { Chance } from "./chance.ts";
import { SimulatedExecutions } from "./executions.ts";
import { Faults } from "./faults.ts";
import { emptyFolder, type Folder, SimulatedFilesSink } from "./files-sink.ts";
import { Functions } from "./functions.ts";
import { LaneSink } from "./lane-sink.ts";
import { epochKey, LedgerChecker, objectsOf, type Outside, WatchedItems } from "./ledger-checker.ts";
import { LogSource, SimulatedLog } from "./log.ts";
import { OutputReaders } from "./outputs.ts";
import { Reference } from "./reference.ts";
import { type Nature, Sandbox } from "./sandbox.ts";
import { Scheduler } from "./scheduler.ts";

/** What broke, and when. */
export interface Violation {
  readonly invariant: string;
  readonly message: string;
  readonly time: number;
}

export interface WorldOptions {
  readonly seed: number;
  /** Only these faults; for the shrinker. */
  readonly only?: ReadonlySet<string>;
  /** Keep a timeline. */
  readonly trace?: boolean;
}

/** A whole deployment: services, functions, executions, with checkers that look at everything. Nothing in it is real but the protocol. */
export class World {
  readonly scheduler = new Scheduler();
  readonly chance: Chance;
  readonly faults: Faults;
  readonly nature: Nature;
  readonly topology: Topology;
  readonly uid = "uid0";
  readonly log: SimulatedLog;
  readonly items = new WatchedItems();
  readonly objects = new Map<string, Uint8Array>();
  readonly broker: Broker;
  readonly folders = new Map<string, Folder>();
  readonly lanes = new Set<string>();
  readonly functions: Functions;
  readonly executions: SimulatedExecutions;
  readonly reference: Reference;
  readonly readers: OutputReaders;
  readonly timeline: string[] = [];
  readonly states = new Map<string, number>();
  violation: Violation | undefined;
  /** Why the pipeline may stop. */
  realLoss: string | undefined;
  readonly #checker: LedgerChecker;
  /** Objects that no listing need show yet. */
  readonly #beingWritten = new Set<string>();
  readonly #decided: DecidedEpoch[] = [];
  readonly #policy: Omit<Policy, "chooseTasks" | "draining">;

  constructor(topology: Topology, options: WorldOptions) {
    const { scheduler } = this;
    this.topology = topology;
    const chance = new Chance(options.seed);
    this.chance = chance;
    this.faults = new Faults(chance, () => scheduler.now, options);
    this.nature = {
      scheduler,
      chance,
      faults: this.faults,
      note: (text) => {
        if (options.trace) this.timeline.push(`${timeOf(scheduler.now)}  ${text}`);
      },
      reached: (state) => this.states.set(state, (this.states.get(state) ?? 0) + 1),
      afterEffect: () => this.#look(),
      violated: (invariant, message) => {
        this.violation ??= { invariant, message, time: scheduler.now };
      },
    };
    this.log = new SimulatedLog(chance);
    this.broker = new Broker(this.nature);
    for (const sink of Object.keys(topology.sinks))
      if (chance.of(`${sink} is a lane`) < 0.4) this.lanes.add(sink);
      else this.folders.set(sink, emptyFolder());
    this.reference = new Reference(topology, new LogSource(this.log, chance, async (_, effect) => effect(), true));
    this.functions = new Functions(this.nature, (sandbox) => this.engine(sandbox));
    const pipeline = { name: topology.name, uid: this.uid };
    this.executions = new SimulatedExecutions(this.nature, this.functions, pipeline, (run, name) =>
      this.wake(`end of ${name}`, run),
    );
    this.readers = new OutputReaders({
      ...{ pipeline: topology.name, uid: this.uid, lanes: this.lanes, folders: this.folders, broker: this.broker },
      objects: this.objects,
      expected: this.reference.outputs,
      violated: this.nature.violated,
    });
    this.#checker = new LedgerChecker(this.items, this.#outside());
    this.#policy = policyOf(chance);
  }

  get isBounded(): boolean {
    return this.#policy.bounded;
  }

  get head(): Head {
    return this.items.item<Head>("HEAD")!;
  }

  get lease(): Wake {
    return this.items.item<Wake>("WAKE")!;
  }

  rows(): EpochRow[] {
    return this.items.all<EpochRow>(/^EPOCH#\d{12}$/);
  }

  /** An event that wakes is delivered until the trigger has taken it. */
  wake(event: string, over: number | null): void {
    const { scheduler, chance, faults } = this;
    const deliver = async (name: string) => {
      for (let tries = 1; ; tries++) {
        try {
          await this.functions.invoke("Wake", { event: name, over }, 60);
          return;
        } catch {
          await scheduler.sleep(Math.min(300_000, 1000 * 2 ** tries));
        }
      }
    };
    const late = faults.hits("event comes late", event) ? chance.magnitude(`${event} late`, 100, 20_000_000) : 5;
    scheduler.after(late, () => void deliver(event));
    if (faults.hits("event comes twice", event))
      scheduler.after(chance.magnitude(`${event} twice`, 1, 80_000_000), () => void deliver(`${event} (twice)`));
  }

  /** Retention took records: a loss, if they were not processed, or may have to be again. */
  truncated(id: string): void {
    const { start } = this.log.status(id);
    const last = this.rows().findLast((row) => row.status === "decided");
    const position = last?.decision.partitions.find((one) => one.id === id)?.position;
    // What a plan has fixed, a restore may go back to.
    const mayBeRead = position !== undefined || this.rows().length > 0;
    if (start > 0 && mayBeRead) this.realLoss = `${id} below ${start}`;
  }

  /** What a process works with: the protocol's ports, each call of which is a step. */
  engine(sandbox: Sandbox): Engine {
    const { topology, uid } = this;
    const call = <T>(method: string, effect: () => T | Promise<T>) => sandbox.call(method, effect);
    const ledger = this.#ledger(sandbox);
    const objects = this.#objectStore(sandbox);
    const sinks = new Map<string, TwoPhaseCommitSink>();
    const makeSink = (id: string) =>
      (this.lanes.has(id)
        ? new LaneSink(this.broker, objects, ledger, call)
        : new SimulatedFilesSink(this.folders.get(id)!, call)) as unknown as TwoPhaseCommitSink;
    const executions: Executions = {
      start: (name) => sandbox.call("executions.start", () => this.executions.start(name)),
      describe: (name) => sandbox.call("executions.describe", () => this.executions.describe(name)),
    };
    return {
      topology,
      fingerprint: JSON.stringify(fingerprint(topology)),
      codeDigest: sandbox.codeDigest,
      uid,
      ledger,
      objects,
      source: new LogSource(this.log, this.chance, call),
      sink: (id) => {
        const sink = sinks.get(id) ?? makeSink(id);
        sinks.set(id, sink);
        return sink;
      },
      state: new StateStore(objects),
      executions,
      clock: { now: () => sandbox.now(), sleep: (ms) => sandbox.sleep(ms) },
      random: { nonce: () => sandbox.nonce() },
      policy: { ...this.#policy, draining: () => false, chooseTasks: (_, stages) => this.#tasks(sandbox, stages) },
    };
  }

  /** Evaluates what was decided since the last call. */
  async catchUp(): Promise<void> {
    for (let row = this.#decided.shift(); row; row = this.#decided.shift()) {
      const difference = await this.reference.evaluate(row);
      if (difference) this.nature.violated("I6", difference);
    }
  }

  async open(): Promise<void> {
    const first = { pipeline: this.topology.name, uid: this.uid, fingerprint: JSON.stringify(fingerprint(this.topology)) };
    await new MemoryLedger(this.items).open(first);
    this.items.changes();
  }

  /** Objects that a retained checkpoint, or an attempt that may still be decided, names. */
  neededObjects(): Set<string> {
    const rows = this.rows();
    const retained = rows.flatMap((row) => (row.status === "decided" && !row.dropped ? objectsOf(row) : []));
    return new Set(retained);
  }

  #tasks(sandbox: Sandbox, stages: number): number[] {
    const { chance, faults } = this;
    const site = sandbox.invocation.name;
    const changes = faults.hits("parallelism changes", site);
    return Array.from({ length: stages }, (_, stage) => 1 + chance.below(`tasks ${changes ? site : ""} ${stage}`, 3));
  }

  #ledger(sandbox: Sandbox): Ledger {
    const ledger = new MemoryLedger(this.items);
    const verbs = Object.entries(ledger).filter(([, verb]) => typeof verb === "function");
    return Object.fromEntries(
      verbs.map(([name, verb]) => [name, (...given: unknown[]) => sandbox.call(`ledger.${name}`, () => verb(...given))]),
    ) as unknown as Ledger;
  }

  #objectStore(sandbox: Sandbox): ObjectStore {
    const store = new MemoryObjectStore(this.objects);
    const world = this;
    return {
      async put(key, chunks) {
        await sandbox.call("objects.put", () => {
          world.#beingWritten.add(key);
          return store.put(key, chunks);
        });
        world.#beingWritten.delete(key);
      },
      get(key, range) {
        const reader = sandbox.invocation.name;
        return sandbox.call("objects.get", () => {
          world.#mayRead(reader, key);
          return store.get(key, range);
        });
      },
      async *list(prefix) {
        const reader = sandbox.invocation.name;
        const keys = await sandbox.call("objects.list", () => world.#listed(reader, prefix));
        for (const key of keys) yield key;
      },
      delete: (keys) =>
        sandbox.call("objects.delete", () => {
          world.#mayDelete(keys);
          return store.delete(keys);
        }),
    };
  }

  /** A listing may miss an object whose writer has had no answer yet. */
  #listed(site: string, prefix: string): string[] {
    const { faults } = this;
    return [...this.objects.keys()].filter(
      (key) =>
        key.startsWith(prefix) &&
        !(this.#beingWritten.has(key) && faults.hits("listing misses what is being written", `${site} ${key}`)),
    );
  }

  /** I2: nobody reads what an undecided attempt has written, but the attempt itself. */
  #mayRead(reader: string, key: string): void {
    const written = parseObjectKey(key);
    if (!written) return;
    const row = this.items.item<EpochRow>(epochKey(written.epoch));
    const isDecided = !row || (row.status === "decided" && row.attempt === written.attempt);
    const isOwn = reader.startsWith(`Operate ${written.epoch}.${written.attempt}.`);
    if (!isDecided && !isOwn) this.nature.violated("I2", `${reader} reads ${key}, which is not decided`);
  }

  /** I5: what a retained checkpoint, an uncommitted decision or an attempt that may be decided names stays. */
  #mayDelete(keys: readonly string[]): void {
    const needed = this.neededObjects();
    const { committed, decided } = this.head;
    const row = this.items.item<EpochRow>(epochKey(decided + 1));
    for (const key of keys) {
      const { epoch, attempt } = parseObjectKey(key)!;
      const isUncommitted = epoch > committed && epoch <= decided && this.#unitNames(epoch, key);
      const mayBeDecided = epoch > decided && attempt >= (row?.attempt ?? 0);
      if (needed.has(key) || isUncommitted || mayBeDecided) this.nature.violated("I5", `${key} is deleted, and still needed`);
    }
  }

  #unitNames(epoch: number, key: string): boolean {
    return this.items.all<Unit>(new RegExp(`^${epochKey(epoch)}#.*#UNIT#`)).some((unit) => JSON.stringify(unit).includes(key));
  }

  #look(): void {
    this.#checker.check();
    this.readers.look(this.head.committed);
  }

  #outside(): Outside {
    return {
      violated: this.nature.violated,
      note: this.nature.note,
      isKnownExecution: (run) => this.executions.isKnown(executionName(this.topology.name, this.uid, run)),
      isVisible: (epoch, unit) => this.readers.isVisible(epoch, unit),
      isReadable: (epoch, unit) => this.readers.isReadable(epoch, unit),
      objectExists: (key) => this.objects.has(key),
      hasRealLoss: () => this.realLoss !== undefined,
      decided: (row) => this.#decided.push(row),
      abandoned: (epoch, unit) => this.readers.abandoned(epoch, unit),
    };
  }
}

function policyOf(chance: Chance): Omit<Policy, "chooseTasks" | "draining"> {
  return {
    bounded: chance.of("bounded") < 0.4,
    hold: false,
    intervalMs: 1000,
    adaptive: chance.of("adaptive") < 0.7,
    records: chance.of("records") < 0.8 ? 1 + chance.below("records of an epoch", 15) : null,
    parallelism: 3,
    attempts: 3,
    backOffMs: 100,
    eventBudget: chance.pick("event budget", [300, 700, 1500, 20_000]),
  };
}

export function timeOf(ms: number): string {
  const whole = Math.floor(ms);
  const [hours, minutes] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, "0")}`;
}
