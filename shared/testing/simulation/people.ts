import { abandonSink } from "../../epoch/abandon.ts";
import type { Engine } from "../../epoch/engine.ts";
import { resetPipeline, restoreCheckpoint } from "../../epoch/restore.ts";
import { EpochflowError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { TwoPhaseCommitSink } from "../../ports/sink.ts";
import { Sandbox } from "./sandbox.ts";
import type { World } from "./world.ts";

const second = 1000;

/** Values of records: of a partition, the n-th. */
export type Values = (partition: string, index: number) => string | Uint8Array;

/** What happens to the pipeline from outside in one run: input, deployments, sweeps, and what people ask for. */
export class People {
  readonly #world: World;
  readonly #values: Values;
  readonly #produced = new Map<string, number>();

  constructor(world: World, values: Values) {
    this.#world = world;
    this.#values = values;
  }

  /** Sets the run's script, of so many virtual milliseconds. */
  begin(lengthMs: number): void {
    const { chance, faults, scheduler } = this.#world;
    const appends = 1 + chance.below("appends", 5);
    for (let number = 1; number <= appends; number++)
      scheduler.after(number === 1 ? 0 : chance.of(`append ${number}`) * lengthMs, () => this.append(number));
    const atSomeTime = (name: string, happens: () => void) =>
      scheduler.after(chance.of(`${name} when`) * lengthMs, happens);
    for (let number = 1; number <= 6; number++)
      if (faults.hits("collector sweeps", `sweep ${number}`)) {
        // Half of them so late that only zombies are left.
        const when =
          number % 2 ? chance.of(`sweep ${number}`) * lengthMs : chance.magnitude(`sweep ${number}`, lengthMs, 8e7);
        scheduler.after(when, () => this.sweep(number));
      }
    for (let number = 1; number <= 3; number++) {
      if (faults.hits("new code", `version ${number}`)) atSomeTime(`version ${number}`, () => this.deploy(number + 1));
      if (faults.hits("pause", `pause ${number}`)) atSomeTime(`pause ${number}`, () => this.pause(number));
      if (faults.hits("restore", `restore ${number}`)) atSomeTime(`restore ${number}`, () => this.restore(number));
      if (faults.hits("abandon", `abandon ${number}`)) atSomeTime(`abandon ${number}`, () => this.abandon(number));
    }
    this.#watchPlan(appends);
    this.#watchCommit();
    if (faults.hits("topology changes", "deployment")) atSomeTime("other topology", () => void this.changeTopology());
    if (faults.hits("a week passes", "week")) atSomeTime("week", () => this.#beginNextWeek());
    if (faults.hits("reset", "reset")) atSomeTime("reset", () => void this.reset("reset"));
    if (faults.hits("log truncated by retention", "log")) atSomeTime("truncation", () => this.truncate());
    if (faults.hits("heartbeat", "rule"))
      for (let beat = 1; beat * 300 * second < lengthMs; beat++)
        scheduler.after(beat * 300 * second, () => this.#world.wake(`heartbeat ${beat}`, null));
  }

  /** The pipeline has stopped: does what the error's way out says. */
  async mend(number: number): Promise<void> {
    const { error, committed } = this.#world.head;
    const name = `mending ${number}`;
    if (error?.code === "topology-changed") return await this.#deployOld(1000 + number);
    if (error?.code !== "unknown-marker" || error.place?.sink === undefined) return await this.reset(name);
    await this.#giveUp(name, committed + 1, error.place.sink);
    await this.#resume(`resume after ${name}`);
  }

  /** Something happens between Plan's look at the source and what it does then. */
  #watchPlan(appends: number): void {
    const { chance, faults, scheduler } = this.#world;
    let looks = 0;
    this.#world.onDiscover = (isQuiet) => {
      const site = `look ${++looks}`;
      const number = looks;
      const sinceMs = chance.magnitude(site, 1, 2000);
      const comes = isQuiet && number < 100 && faults.hits("input comes while Plan looks", site);
      const pauses = faults.hits("pause while Plan looks", site);
      const soon = sinceMs * chance.of(`${site} soon`);
      if (comes) scheduler.after(soon, () => this.append(appends + number));
      if (pauses) scheduler.after(soon, () => this.pause(100 + number));
      return comes || pauses ? sinceMs : 0;
    };
  }

  /** Something happens between what a committer does and what he learns of it. */
  #watchCommit(): void {
    const { chance, faults, scheduler } = this.#world;
    let requests = 0;
    this.#world.onCommit = (request) => {
      const [, sink] = /^Commit \d+\.(\S+)/.exec(request) ?? [];
      if (sink === undefined) return;
      const site = `${request} ${++requests}`;
      const soon = chance.magnitude(site, 0.01, 100);
      if (faults.hits("abandon during a commit", site))
        scheduler.after(soon, () => void this.abandon(100 + requests, sink));
      if (faults.hits("a week passes during a commit", site)) scheduler.after(soon, () => this.passWeek());
    };
  }

  /** A pause whose answer was lost may come true long after everybody has forgotten it. */
  async resume(number: number): Promise<void> {
    await this.#resume(`late resume ${number}`);
  }

  append(number: number): void {
    const { chance, faults, scheduler, log } = this.#world;
    const ids = ["p0", "p1", ...(number > 1 && faults.hits("partition added", `append ${number}`) ? ["p2"] : [])];
    for (const id of ids) {
      const site = `append ${number} to ${id}`;
      const count = chance.below(`${site} count`, 8);
      if (count === 0 && number > 1) continue;
      const values = Array.from({ length: count }, () => {
        const index = this.#produced.get(id) ?? 0;
        this.#produced.set(id, index + 1);
        return this.#values(id, index);
      });
      // A bounded input ends where it ends when it is looked at: nobody waits for the end of a transaction.
      const open = count > 0 && !this.#world.isBounded && faults.hits("transaction left open", site);
      const settle = log.append(id, values, open);
      this.#world.nature.note(`${values.length} records come to ${id}`);
      if (open)
        scheduler.after(chance.magnitude(`${site} open`, 10, 150 * second), () =>
          settle(faults.hits("transaction aborted", site) ? "abort" : "commit"),
        );
    }
    this.#world.wake(`append ${number}`, null);
  }

  sweep(number: number): void {
    const { chance, functions } = this.#world;
    const checkpoints = 1 + chance.below("retained checkpoints", 3);
    const history = 1 + chance.below("retained history", 20);
    functions.invoke("Collect", { sweep: number, checkpoints, history } as Json, 900).catch(() => {});
  }

  deploy(version: number): void {
    this.#world.functions.deploy(version);
    this.#world.wake(`deployment of version ${version}`, null);
  }

  /** Somebody deploys another pipeline under the same name: it must refuse to touch the state. Later he deploys the old one again. */
  async changeTopology(): Promise<void> {
    const { chance, scheduler, functions, foreignCode } = this.#world;
    const version = 100;
    foreignCode.add(`code-${version}`);
    functions.deploy(version);
    this.#world.wake("deployment of another topology", null);
    await scheduler.sleep(chance.magnitude("other topology length", 10, 600 * second), "the other topology stays");
    await this.#deployOld(version + 1);
  }

  async #deployOld(version: number): Promise<void> {
    this.#world.functions.deploy(version);
    await this.#world.scheduler.sleep(5 * second, "the old topology is deployed");
    await this.#resume(`resume with version ${version}`);
  }

  /** Nothing answers for so long that Kafka has forgotten the offsets of groups. */
  passWeek(): void {
    this.#world.scheduler.leap(7.5 * 24 * 3600 * second);
    this.#world.wake("a week later", null);
  }

  /** The collector runs in a quiet week, too. */
  #beginNextWeek(): void {
    this.passWeek();
    this.sweep(50);
    this.#world.scheduler.after(30 * second, () => this.append(50));
  }

  async pause(number: number): Promise<void> {
    const { chance, scheduler } = this.#world;
    await this.#ask(`pause ${number}`, ({ ledger }) => ledger.setStatus("paused"));
    await scheduler.sleep(chance.magnitude(`pause ${number} length`, 10, 600 * second));
    await this.#resume(`resume ${number}`);
  }

  /** The status first, then the wake-up: whichever of the two a racing trigger sees, one of them starts an execution. */
  async #resume(name: string): Promise<void> {
    await this.#ask(name, ({ ledger }) => ledger.setStatus("running"));
    this.#world.wake(name, null);
  }

  async restore(number: number): Promise<void> {
    const { chance, faults, scheduler } = this.#world;
    // Dropped ones, too: these must be refused. Old ones rather than new ones.
    const decided = this.#world.rows().filter((row) => row.status === "decided");
    const epoch = decided[Math.floor(decided.length * chance.of(`restore ${number} epoch`) ** 2)]?.epoch;
    if (epoch === undefined) return;
    const name = `restore ${number} of ${epoch}`;
    if (faults.hits("sweep during a restore", name))
      scheduler.after(chance.magnitude(`${name} sweep`, 0.1, 200), () => this.sweep(100 + number));
    await this.#ask(name, (engine) => restoreCheckpoint(engine, epoch, `restore-${number}`));
    this.#world.wake(`restore ${number}`, null);
  }

  async reset(name: string): Promise<void> {
    await this.#ask(name, (engine) => resetPipeline(engine, engine.fingerprint));
    await this.#resume(`resume after ${name}`);
  }

  /** @param wanted the sink, if it has anything that waits; else one by chance */
  async abandon(number: number, wanted?: string): Promise<void> {
    const { head, chance } = this.#world;
    if (head.committed === head.decided) return;
    const epoch = head.committed + 1;
    const sinks = [...new Set(this.#world.units(epoch).map(({ sink }) => sink))];
    if (sinks.length === 0) return;
    const name = `abandon ${number}`;
    const isThere = wanted !== undefined && sinks.includes(wanted);
    await this.#giveUp(name, epoch, isThere ? wanted : chance.pick(`${name} sink`, sinks));
  }

  async #giveUp(name: string, epoch: number, sink: string): Promise<void> {
    const { readers } = this.#world;
    const units = this.#world.units(epoch).filter((unit) => unit.sink === sink);
    await this.#ask(name, async (engine) => {
      const place = {
        ...engine,
        pipeline: engine.topology.name,
        target: this.#slowly(engine.sink(sink), engine, name),
      };
      readers.told(epoch, sink, units, await abandonSink(place, epoch, sink));
    });
  }

  /** Between the row that is marked and the look at the sink others go on. */
  #slowly(target: TwoPhaseCommitSink, { clock }: Engine, name: string): Pick<TwoPhaseCommitSink, "abandon"> {
    const { chance, faults } = this.#world;
    const pauses = faults.hits("abandon pauses half way", name);
    return {
      ...(target.abandon && {
        abandon: async (context) => {
          if (pauses) await clock.sleep(chance.magnitude(`${name} pauses`, 10, 60 * second));
          return await target.abandon!(context);
        },
      }),
    };
  }

  truncate(): void {
    const { chance, log, nature } = this.#world;
    const id = chance.pick("truncated partition", log.ids());
    log.truncate(id, chance.below("truncated below", log.status(id).high + 1));
    nature.note(`retention takes what is below ${log.status(id).start} of ${id}`);
  }

  /** Asks until there is an answer: a person tries again. Refusals are answers. */
  async #ask(name: string, work: (engine: Engine) => Promise<unknown>): Promise<void> {
    const { nature, scheduler } = this.#world;
    for (let tries = 1; ; tries++) {
      const sandbox = new Sandbox(nature, `${name} ~${tries}`, "person");
      sandbox.begin(sandbox.name);
      const { promise, resolve } = Promise.withResolvers<unknown>();
      sandbox.onCrash = () => resolve(new Error("crash"));
      work(this.#world.engine(sandbox)).then(() => resolve(undefined), resolve);
      const error = await promise;
      const isRefusal = error instanceof EpochflowError && error.kind === "usage";
      const mayPass = isRefusal && error.code === "uncommitted" && tries < 5;
      if (error === undefined || (isRefusal && !mayPass)) {
        nature.reached(`person: ${name.split(" ")[0]} ${error ? (error as EpochflowError).code : "done"}`);
        return;
      }
      await scheduler.sleep(second * tries);
    }
  }
}
