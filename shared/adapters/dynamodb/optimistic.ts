import { InfrastructureError } from "../../errors.ts";
import { backOff } from "../aws/back-off.ts";
import type { ItemReader, Items } from "../items/item-store.ts";
import { isEpochKey } from "../items/layout.ts";
import type { Overflow } from "./overflow.ts";
import { packKeyOf } from "./packs.ts";
import { Reader, type Reading } from "./reader.ts";
import { encode } from "./rows.ts";
import { type Attributes, type Expectation, revised, type Table, type Written } from "./table.ts";
import { Readings, Unread, View } from "./view.ts";

/** For how long a verb is run again because others were faster. */
const patienceMs = 60_000;

interface Run<T> {
  readonly view: View;
  readonly readings: Readings;
  readonly outcome: { readonly value: T } | { readonly error: unknown };
}

type Put = readonly [row: Attributes, expected: Expectation];

/**
 * Runs the verbs, which are written for a store that answers at once, over a table that does not: a verb is a function of what it reads, so it is run, and
 * when it asks for something that was not read yet, that is read, and the verb is run from its beginning. `expected` is what it will ask for, so that one
 * round of reads is mostly enough; it is never needed for the outcome.
 */
export class OptimisticStore {
  readonly #table: Table;
  readonly #overflow: Overflow;
  readonly #reader: Reader;

  constructor(table: Table, overflow: Overflow) {
    this.#table = table;
    this.#overflow = overflow;
    this.#reader = new Reader(table, overflow);
  }

  /** No more than it needs: each row as it is at some moment during the call. */
  async read<T>(expected: readonly string[], verb: (items: ItemReader) => T): Promise<T> {
    return resultOf(await this.#run(expected, verb));
  }

  /**
   * As if nothing else happened meanwhile: all rows that the verb has used are checked in the transaction that writes; where it writes nothing,
   * a second look tells that they had all been so at one moment. Else it is run again.
   *
   * @param recalled besides `expected`, what the caller has most likely just looked at: the first run begins with that, and counts only if it writes
   */
  async write<T>(expected: readonly string[], verb: (items: Items) => T, recalled: readonly string[] = []): Promise<T> {
    const finish = async (run: Run<T>): Promise<Written> => {
      const puts = "value" in run.outcome ? await this.#putsOf(run) : [];
      const written = new Set(puts.map(([, { key }]) => key));
      const checks = [...run.view.used].filter((key) => !written.has(key) && mayChange(run, key));
      const others = checks.map((key) => run.readings.revisionOf(key));
      if (puts.length > 0) return await this.#noted(puts, await this.#table.transact(puts, others));
      if (run.readings.isRecalled) return "changed";
      // One row alone was as it was read; but an error may come of a list, too, that others change.
      const isSure = others.length === 0 || (others.length === 1 && "value" in run.outcome);
      return isSure || (await this.#table.areAs(others)) ? "done" : "changed";
    };
    return await this.#untilDone([...expected, ...recalled], verb, finish, new Set(recalled));
  }

  /** Like `write`, for a verb whose condition, once true, stays true for all that follows from it: only what it writes is checked. */
  async settle<T>(expected: readonly string[], verb: (items: Items) => T): Promise<T> {
    return await this.#untilDone(expected, verb, async (run) => {
      const [put] = "value" in run.outcome ? await this.#putsOf(run) : [];
      return put === undefined ? "done" : this.#noted([put], await this.#table.put(...put));
    });
  }

  /** Runs a verb that deletes what nobody needs any more; gives what it gave, and all rows that it has seen and left. */
  async sweep<T>(verb: (items: Items) => T): Promise<{ value: T; left: Attributes[] }> {
    const run = await this.#run([], verb, { fields: "in the row" });
    const value = resultOf(run);
    const deleted = new Set(run.view.writes.keys());
    const packs = new Set([...deleted].flatMap((key) => packKeyOf(key) ?? []));
    // First, since without it the rows of its units say all: the other way round, a committed unit would seem to be prepared again.
    await this.#table.delete([...packs]);
    const { rows } = run.readings;
    await this.#table.delete([...deleted].filter((key) => rows.get(key)));
    const left = [...rows].flatMap(([key, row]) => (row && !deleted.has(key) && !packs.has(key) ? [row] : []));
    return { value, left };
  }

  async #untilDone<T>(
    expected: readonly string[],
    verb: (items: Items) => T,
    finish: (run: Run<T>) => Promise<Written>,
    recalled: ReadonlySet<string> = new Set(),
  ): Promise<T> {
    const giveUpAt = performance.now() + patienceMs;
    for (let tries = 1; performance.now() < giveUpAt; tries++) {
      const run = await this.#run(expected, verb, tries === 1 ? { recalled } : undefined);
      const written = await finish(run);
      if (written === "done") return resultOf(run);
      if (written === "busy" || tries > 1) await backOff(tries);
    }
    throw new InfrastructureError(
      "ledger-busy",
      "Cannot write the ledger: others changed it each time, or it is throttled",
      {
        wayOut: "It is tried again by itself. If it lasts, look for throttled writes of the table.",
      },
    );
  }

  async #run<T>(expected: readonly string[], verb: (items: Items) => T, reading?: Reading): Promise<Run<T>> {
    const readings = new Readings();
    if (expected.length > 0) await this.#reader.read(readings, { rows: expected }, reading);
    for (;;) {
      const view = new View(readings);
      try {
        return { view, readings, outcome: { value: verb(view) } };
      } catch (error) {
        if (!(error instanceof Unread)) return { view, readings, outcome: { error } };
        await this.#reader.read(readings, error.wanted, reading);
      }
    }
  }

  #noted(puts: readonly Put[], written: Written): Written {
    if (written !== "done") return written;
    for (const [row, { key, revision }] of puts) this.#reader.recent.note(key, revised(row, revision));
    return written;
  }

  async #putsOf({ view, readings }: Run<unknown>): Promise<Put[]> {
    const packs = new Map<string, Record<string, unknown>>();
    const puts: Promise<Put>[] = [];
    for (const [key, { kind, item }] of view.writes) {
      const pack = kind === "insert" ? packKeyOf(key) : undefined;
      if (pack === undefined) puts.push(this.#putOf(readings, key, item as object));
      else packs.set(pack, { ...packs.get(pack), [key]: item });
    }
    for (const [key, units] of packs) puts.push(this.#putOf(readings, key, { units }));
    return await Promise.all(puts);
  }

  async #putOf(readings: Readings, key: string, item: object): Promise<Put> {
    const attributes = readings.rows.get(key);
    const before = attributes && { item: readings.values.get(key) as Record<string, unknown>, attributes };
    return [await encode(key, item as Record<string, unknown>, this.#overflow, before), readings.revisionOf(key)];
  }
}

/** I1: what was decided never changes, and that is all that verbs take from a decided epoch which they do not write. */
function mayChange({ readings }: Run<unknown>, key: string): boolean {
  const row = isEpochKey(key) ? readings.rows.get(key) : undefined;
  return row?.status?.S !== "decided";
}

function resultOf<T>({ outcome }: Run<T>): T {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
