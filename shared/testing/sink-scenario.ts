import assert from "node:assert/strict";
import type { Json } from "../json.ts";
import type {
  CommitContext,
  CommitLedger,
  CommitUnit,
  PreparedTask,
  Transaction,
  TwoPhaseCommitSink,
} from "../ports/sink.ts";

/** A target of a sink, as the conformance suite needs it. */
export interface SinkUnderTest<T = unknown> {
  /** A new instance on the same target, as a process started anew has it. */
  open(): TwoPhaseCommitSink<T>;
  /** All rows that readers see. */
  read(): Promise<T[]>;
  /** A row with a number in it. */
  row(number: number): T;
  /** A row that the sink cannot encode, if there are any. */
  readonly badRow?: T;
  /** Rows with the same number take each other's place. */
  readonly replaces?: true;
  /** The target belongs to one sink of one ledger. */
  readonly exclusive?: boolean;
  close(): Promise<void>;
}

export const owner = { pipeline: "conformance", uid: "ledger-1", sink: "rows" };

/** Adds a test, with a target of its own. */
export type Check<T> = (title: string, body: (target: SinkUnderTest<T>) => Promise<void>, needs?: Need) => void;

/** What not every sink has: a check of it is skipped by that name, as it would say nothing. */
export interface Need {
  readonly what: string;
  isThere(target: SinkUnderTest<never>): boolean;
}

export const exclusive: Need = { what: "exclusive", isThere: (target) => target.exclusive === true };
export const badRow: Need = { what: "badRow", isThere: (target) => "badRow" in target };
export const ableTo = (method: "abandon" | "publish"): Need => ({
  what: `${method}()`,
  isThere: (target) => target.open()[method] !== undefined,
});

export function where<T>(check: Check<T>, need: Need): Check<T> {
  return (title, body) => check(title, body, need);
}

export type Step = () => Promise<void>;

/**
 * The ledger as a zombie's luck would have it: to it, the epoch's units are never committed, and all others were.
 *
 * @param isSealed the epoch is committed as a whole
 */
export function commitLedger(
  epoch: number,
  { unit }: Pick<CommitUnit, "unit">,
  isSealed: () => boolean = () => false,
): CommitLedger {
  return {
    unit: async (of) => ({ status: of === epoch ? "prepared" : "committed", unit }),
    decidedAt: async () => Date.now(),
    committed: async () => (isSealed() ? epoch : epoch - 1),
    recover: async () => {},
  };
}

/** The last epoch in which a unit's key had output, as the ledger remembers it for each target. */
const lastOutput = new WeakMap<object, Map<string, number>>();

/** Units that were given up, by epoch and key, as the ledger of each target has them. */
const givenUp = new WeakMap<object, Map<string, Json>>();

const tasks = [0, 1, 2];
const rowsPerTask = 3;

/**
 * What the protocol does with one epoch of a sink, as lists of steps: they can be stopped after any, the later ones can be done twice, and
 * another process, or a delayed one, can do the rest.
 */
export class SinkEpoch<T> {
  readonly #target: SinkUnderTest<T>;
  readonly #epoch: number;
  readonly #prepared = new Map<number, PreparedTask>();
  #units: readonly CommitUnit[] = [];
  #isSealed = false;

  constructor(target: SinkUnderTest<T>, epoch: number) {
    this.#target = target;
    this.#epoch = epoch;
  }

  /** All rows of the epoch, which are the same in each attempt (I6). */
  get rows(): T[] {
    return tasks.flatMap((task) => this.#rows(task));
  }

  get handles(): Json[] {
    return [...this.#prepared.values()].map(({ handle }) => handle);
  }

  /** Steps up to the decision. */
  prepare(sink: TwoPhaseCommitSink<T>, attempt: number): Step[] {
    return [() => sink.open(owner), ...tasks.flatMap((task) => this.#prepareTask(sink, attempt, task))];
  }

  /** The attempt is fenced: what it acknowledged is ended. */
  async abort(sink: TwoPhaseCommitSink<T>): Promise<void> {
    for (const handle of this.handles) await sink.abort(handle);
    this.#prepared.clear();
  }

  /** The attempt is decided. */
  decide(sink: TwoPhaseCommitSink<T>): void {
    const prepared = [...this.#prepared.values()].sort((a, b) => a.task - b.task);
    const last = lastOutput.get(this.#target) ?? new Map<string, number>();
    lastOutput.set(this.#target, last);
    const decision = {
      epoch: this.#epoch,
      token: `token-${this.#epoch}`,
      previous: (key: string) => last.get(key) ?? null,
    };
    this.#units =
      sink.units?.(prepared, decision) ??
      prepared.map(({ stage, task, handle }) => ({ key: `${stage}-${task}`, unit: handle }));
    for (const { key } of this.#units) last.set(key, this.#epoch);
  }

  /** Steps from the decision on. */
  complete(sink: TwoPhaseCommitSink<T>): Step[] {
    const seal = async () => {
      await sink.seal?.({ ...owner, epoch: this.#epoch, units: this.#units });
      this.#isSealed = true;
    };
    return [...this.commitSteps(sink), seal];
  }

  /** The same without the last: units alone are committed. */
  commitSteps(sink: TwoPhaseCommitSink<T>): Step[] {
    return [() => sink.open(owner), ...this.#units.map((unit) => () => sink.commit(this.#contextOf(unit)))];
  }

  /** All units are given up: what the sink says of each. */
  async abandon(sink: TwoPhaseCommitSink<T>): Promise<string[]> {
    const known = givenUp.get(this.#target) ?? new Map<string, Json>();
    givenUp.set(this.#target, known);
    const answers = [];
    for (const unit of this.#units) {
      known.set(`${this.#epoch}/${unit.key}`, unit.unit);
      const answer = await sink.abandon!(this.#contextOf(unit));
      if (answer === "committed") known.delete(`${this.#epoch}/${unit.key}`);
      answers.push(answer);
    }
    return answers;
  }

  #contextOf(unit: CommitUnit): CommitContext {
    const ledger = commitLedger(this.#epoch, unit, () => this.#isSealed);
    const abandoned = (of: number) => givenUp.get(this.#target)?.get(`${of}/${unit.key}`);
    return {
      ...owner,
      epoch: this.#epoch,
      ...unit,
      ledger: {
        ...ledger,
        unit: async (of) => {
          const lost = abandoned(of);
          return lost === undefined ? await ledger.unit(of) : { status: "abandoned", unit: lost };
        },
      },
    };
  }

  /** One task has no rows in odd epochs. */
  #rows(task: number): T[] {
    if (task === 1 && this.#epoch % 2 === 1) return [];
    return Array.from({ length: rowsPerTask }, (_, row) => this.#target.row(this.#epoch * 1000 + task * 100 + row));
  }

  #prepareTask(sink: TwoPhaseCommitSink<T>, attempt: number, task: number): Step[] {
    let transaction: Transaction<T>;
    let handle: Json | undefined;
    return [
      async () => {
        transaction = await sink.begin({
          ...owner,
          epoch: this.#epoch,
          attempt,
          stage: 0,
          task,
          nonce: `nonce${attempt}`,
        });
      },
      async () => {
        const rows = this.#rows(task);
        transaction.write(rows.slice(0, 1));
        await transaction.drained();
        transaction.write(rows.slice(1));
      },
      async () => {
        handle = await sink.preCommit(transaction);
      },
      // A process may die before the ledger has it. It keeps it as JSON.
      async () => {
        if (handle !== undefined)
          this.#prepared.set(task, { stage: 0, task, handle: JSON.parse(JSON.stringify(handle)) });
      },
    ];
  }
}

/** Does steps one after the other, each so many times. */
export async function perform(steps: readonly Step[], times = 1): Promise<void> {
  for (const step of steps) for (let time = 0; time < times; time += 1) await step();
}

/** A whole epoch, by one process, without a failure. */
export async function performEpoch<T>(target: SinkUnderTest<T>, number: number) {
  const epoch = new SinkEpoch(target, number);
  const sink = target.open();
  await perform(epoch.prepare(sink, 1));
  epoch.decide(sink);
  await perform(epoch.complete(sink));
  await sink.close();
  return epoch;
}

/** A first epoch, of one task. */
export async function publish<T>(sink: TwoPhaseCommitSink<T>, prepared: PreparedTask): Promise<void> {
  const { stage, task, handle } = prepared;
  const decision = { epoch: 1, token: "token", previous: () => null };
  const units = sink.units?.([prepared], decision) ?? [{ key: `${stage}-${task}`, unit: handle }];
  for (const unit of units) await sink.commit({ ...owner, epoch: 1, ...unit, ledger: commitLedger(1, unit) });
  await sink.seal?.({ ...owner, epoch: 1, units });
}

/** An epoch that one process has prepared, and that is decided. All earlier ones have even numbers. */
export async function decided<T>(target: SinkUnderTest<T>, number = 2, attempt = 1): Promise<SinkEpoch<T>> {
  const epoch = new SinkEpoch(target, number);
  const sink = target.open();
  await perform(epoch.prepare(sink, attempt));
  epoch.decide(sink);
  return epoch;
}

/** Readers see the rows of these epochs, each once, and no others. */
export async function sees<T>(target: SinkUnderTest<T>, ...epochs: { readonly rows: T[] }[]): Promise<void> {
  const sorted = (rows: T[]) => rows.map((row) => JSON.stringify(row)).sort();
  assert.deepEqual(sorted(await target.read()), sorted(epochs.flatMap(({ rows }) => rows)));
}
