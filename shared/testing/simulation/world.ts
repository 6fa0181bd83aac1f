import { MemoryLedger } from "../../adapters/memory/ledger.ts";
import type { Engine } from "../../epoch/engine.ts";
import type { DecidedEpoch, EpochRow, Unit } from "../../epoch/epoch.ts";
import { executionName } from "../../epoch/names.ts";
import type { ErrorDescription } from "../../errors.ts";
import { fingerprint } from "../../pipeline/fingerprint.ts";
import type { Topology } from "../../pipeline/topology.ts";
import type { Head, Wake } from "../../ports/ledger.ts";
import { Broker } from "./broker.ts";
import { Chance } from "./chance.ts";
import { SimulatedExecutions } from "./executions.ts";
import { type Fault, type FaultChoice, Faults } from "./faults.ts";
import { emptyFolder, type Folder } from "./files-sink.ts";
import { Functions } from "./functions.ts";
import { epochKey, LedgerChecker, type Outside, WatchedItems } from "./ledger-checker.ts";
import { LogSource, SimulatedLog } from "./log.ts";
import { SimulatedObjects } from "./objects.ts";
import { OutputReaders } from "./outputs.ts";
import { composeProcess, policyOf } from "./process.ts";
import { Publications } from "./publications.ts";
import { Reference } from "./reference.ts";
import type { Memory, Nature, Sandbox } from "./sandbox.ts";
import { type Agenda, Scheduler } from "./scheduler.ts";

/** What broke, and when. */
export interface Violation {
  readonly invariant: string;
  readonly message: string;
  readonly time: number;
}

export interface WorldOptions extends FaultChoice {
  readonly seed: number;
  /** Keep a timeline. */
  readonly trace?: boolean;
  /** In which order things happen; by default that of time. */
  readonly agenda?: Agenda;
  readonly memory?: Memory;
  /** Instead of what chance picks. */
  readonly setup?: Setup;
}

export interface Setup {
  /** Ids of the sinks that are on Kafka. */
  readonly lanes: readonly string[];
  readonly policy: Partial<ReturnType<typeof policyOf>>;
  /** Of each stage. */
  readonly tasks: readonly number[];
}

const nobody: Memory = { learns: () => {}, forgets: () => {} };

/** Clocks differ, and jump by an hour. */
const almostADayMs = 21 * 3_600_000;

/** A whole deployment: services, functions, executions, with checkers that look at everything. Nothing in it is real but the protocol. */
export class World {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly faults: Faults;
  readonly nature: Nature;
  readonly topology: Topology;
  readonly uid = "uid0";
  readonly log: SimulatedLog;
  readonly items = new WatchedItems();
  readonly store: SimulatedObjects;
  readonly broker: Broker;
  readonly folders = new Map<string, Folder>();
  readonly lanes = new Set<string>();
  readonly functions: Functions;
  readonly executions: SimulatedExecutions;
  readonly reference: Reference;
  readonly readers: OutputReaders;
  readonly publications: Publications;
  readonly timeline: string[] = [];
  readonly states = new Map<string, number>();
  violation: Violation | undefined;
  /** Called when Plan has looked at the source, the worst moment for something to happen; returns for how many milliseconds Plan knows nothing of it. */
  onDiscover: ((isQuiet: boolean) => number) | undefined;
  /** Called when a committer has asked Kafka for something, before he knows what came of it. */
  onCommit: ((site: string) => void) | undefined;
  readonly #checker: LedgerChecker;
  readonly #decided: DecidedEpoch[] = [];
  /** Run that made the last call of `plan`. */
  planner: number | undefined;
  readonly policy: ReturnType<typeof policyOf>;
  readonly setup: Setup | undefined;

  constructor(topology: Topology, options: WorldOptions) {
    const { setup } = options;
    const scheduler = new Scheduler(options.agenda);
    this.scheduler = scheduler;
    this.setup = setup;
    this.topology = topology;
    const chance = new Chance(options.seed);
    this.chance = chance;
    this.faults = new Faults(chance, (fault) => this.#happens(fault), options);
    this.nature = {
      scheduler,
      chance,
      faults: this.faults,
      note: (text) => {
        if (options.trace) this.timeline.push(`${timeOf(scheduler.now)}  ${typeof text === "string" ? text : text()}`);
      },
      reached: (state) => this.states.set(state, (this.states.get(state) ?? 0) + 1),
      afterEffect: () => this.#look(),
      memory: options.memory ?? nobody,
      violated: (invariant, message) => {
        if (this.violation) return;
        this.violation = { invariant, message, time: scheduler.now };
        this.nature.note(`*** ${invariant}: ${message}`);
      },
    };
    this.store = new SimulatedObjects(this.nature, this.items);
    this.log = new SimulatedLog(chance);
    this.broker = new Broker(this.nature);
    for (const sink of Object.keys(topology.sinks))
      if (setup ? setup.lanes.includes(sink) : chance.of(`${sink} is a lane`) < 0.4) this.lanes.add(sink);
      else this.folders.set(sink, emptyFolder());
    this.reference = new Reference(
      topology,
      new LogSource(this.log, chance, async (_, effect) => effect(), { archive: true }),
    );
    this.functions = new Functions(this.nature, (sandbox) => this.engine(sandbox));
    const pipeline = { name: topology.name, uid: this.uid };
    this.executions = new SimulatedExecutions(this.nature, this.functions, pipeline, (run, name) =>
      this.wake(`end of ${name}`, run),
    );
    this.readers = new OutputReaders({
      ...{ pipeline: topology.name, uid: this.uid, lanes: this.lanes, folders: this.folders, broker: this.broker },
      objects: this.store.objects,
      expected: this.reference.outputs,
      violated: this.nature.violated,
    });
    this.publications = new Publications({
      topology,
      expected: this.reference.outputs,
      violated: this.nature.violated,
      reached: this.nature.reached,
    });
    this.#checker = new LedgerChecker(this.items, this.#outside());
    this.policy = { ...policyOf(chance), ...setup?.policy };
  }

  get isBounded(): boolean {
    return this.policy.bounded;
  }

  get head(): Head {
    return this.items.item<Head>("HEAD")!;
  }

  get lease(): Wake {
    return this.items.item<Wake>("WAKE")!;
  }

  wasStarted(run: number): boolean {
    return this.executions.isKnown(executionName(this.topology.name, this.uid, run));
  }

  rows(): EpochRow[] {
    return this.items.all<EpochRow>(/^EPOCH#\d{12}$/);
  }

  units(epoch: number): Unit[] {
    return this.items.all<Unit>(new RegExp(`^${epochKey(epoch)}#.*#UNIT#`));
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
          await scheduler.sleep(Math.min(300_000, 1000 * 2 ** tries), `${name} is delivered again`);
        }
      }
    };
    const late = faults.hits("event comes late", event)
      ? chance.magnitude(`${event} late`, 100, 20_000_000)
      : chance.magnitude(event, 0.1, 500);
    scheduler.step(event, late, () => void deliver(event));
    const twice = `${event} (twice)`;
    if (faults.hits("event comes twice", event))
      scheduler.step(twice, chance.magnitude(`${event} twice`, 1, 80_000_000), () => void deliver(twice), {
        isLate: true,
      });
  }

  /** Retention took records that are still to be read: after the last decision, or, since a stop may be late, after the one before. */
  #hasLostRecords(): boolean {
    const decided = this.rows().filter((row) => row.status === "decided");
    const before = decided.slice(-2).map(({ decision }) => new Map(decision.partitions.map((one) => [one.id, one])));
    if (decided.length < 2) before.push(new Map());
    return this.log.ids().some((id) => before.some((one) => this.log.status(id).start > (one.get(id)?.position ?? 0)));
  }

  engine(sandbox: Sandbox): Engine {
    return composeProcess(this, sandbox);
  }

  /** Code whose topology is another one, by its digest. */
  readonly foreignCode = new Set<string>();

  topologyOf(codeDigest: string): Topology {
    const { topology } = this;
    return this.foreignCode.has(codeDigest) ? { ...topology, keyGroups: topology.keyGroups + 1 } : topology;
  }

  /** Whether a pipeline may stop with this error (I8). */
  #isRealLoss(error: ErrorDescription | null): boolean {
    if (error?.code === "topology-changed") return this.foreignCode.size > 0;
    if (error?.code === "unknown-marker") return this.#hasUnknownOutcome();
    return this.#hasLostRecords();
  }

  /** The marker of a lane has expired, or never was, and what is to be committed is so old that its own may have expired, too. */
  #hasUnknownOutcome(): boolean {
    const epoch = this.head.committed + 1;
    const row = this.rows().find((one) => one.epoch === epoch);
    const now = 1_700_000_000_000 + this.scheduler.now;
    return row?.status === "decided" && now - row.decision.decidedAt > almostADayMs;
  }

  /** Evaluates what was decided since the last call. */
  async catchUp(): Promise<void> {
    for (let row = this.#decided.shift(); row; row = this.#decided.shift()) {
      const difference = await this.reference.evaluate(row);
      if (difference) this.nature.violated("I6", difference);
    }
  }

  /** Results differ: is it a function of the pipeline that gives another result each time? */
  async blameOperator(): Promise<void> {
    for (const row of this.rows()) {
      if (row.status !== "decided" || row.decision.kind === "restore" || !this.violation) continue;
      const operator = await this.reference.nondeterministicOperator(row);
      if (operator === undefined) continue;
      const message = `operator ${operator} is not deterministic: it gave two results for the same records of epoch ${row.epoch}`;
      this.violation = { ...this.violation, invariant: "user code", message };
      this.nature.note(`*** ${message}`);
      return;
    }
  }

  async open(): Promise<void> {
    const first = {
      pipeline: this.topology.name,
      uid: this.uid,
      fingerprint: JSON.stringify(fingerprint(this.topology)),
    };
    await new MemoryLedger(this.items).open(first);
    this.items.changes();
  }

  #happens(fault: Pick<Fault, "kind" | "site">): Fault {
    this.nature.note(`! ${fault.kind}: ${fault.site}`);
    return { ...fault, time: this.scheduler.now };
  }

  #look(): void {
    this.#checker.check();
    if (this.topology.guarantee === "exactly-once") this.readers.look(this.#checker.committed);
  }

  #outside(): Outside {
    return {
      violated: this.nature.violated,
      note: this.nature.note,
      isKnownExecution: (run) => this.wasStarted(run),
      mayPlan: () => this.lease.owner === this.planner,
      isVisible: (epoch, unit) => this.readers.isVisible(epoch, unit),
      isReadable: (epoch, unit) => this.readers.isReadable(epoch, unit),
      objectExists: (key) => this.store.objects.has(key),
      isRealLoss: (error) => this.#isRealLoss(error),
      isForeign: (codeDigest) => this.foreignCode.has(codeDigest),
      planned: (row, before) => this.publications.planned(row, before),
      acked: (ack) => this.publications.acked(ack),
      decided: (row, acks) => {
        this.publications.decided(row, acks);
        this.#decided.push(row);
      },
      abandoned: (epoch, unit) => this.readers.abandoned(epoch, unit),
    };
  }
}

export function timeOf(ms: number): string {
  const whole = Math.floor(ms);
  const [hours, minutes] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, "0")}`;
}
