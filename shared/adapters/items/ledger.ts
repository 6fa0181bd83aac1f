import type { EpochRow } from "../../epoch/epoch.ts";
import type { Ledger } from "../../ports/ledger.ts";
import { ack, acks, confirm, fail, fence } from "./attempts.ts";
import { abandonUnit, commit, commitUnit, failCommit, recoverUnit, units } from "./committing.ts";
import { grant, handOver, increment, open, release, setStatus, spend, stop } from "./coordination.ts";
import { decide, lose, restore } from "./deciding.ts";
import type { ItemReader, ItemStore, Key, Lasting } from "./item-store.ts";
import { epochKey, existing, headKey, isEpochKey, wakeKey } from "./layout.ts";
import { plan } from "./planning.ts";
import { drop, pin, trim, unpin } from "./retention.ts";

/** Carried by the next write that is durable: before it nothing that rests on them is visible, or else can be done again (I4). */
const process = "process" satisfies Lasting;

/**
 * The protocol's verbs over items of one machine: each is one transaction of the store. What an epoch must not lose in a power failure is its decision, and that it is
 * committed, after which its staged output is collected. A plan and acks that are undone have never been: the epoch is planned anew, and nobody has seen what was staged (I1, I2),
 * unless an ack has made rows visible by itself (at-most-once). A unit whose commit is forgotten is committed again, which is idempotent.
 */
export class ItemLedger implements Ledger {
  readonly #store: ItemStore;

  constructor(store: ItemStore) {
    this.#store = store;
  }

  readonly open: Ledger["open"] = async (first) => this.#store.write((items) => open(items, first));
  readonly head: Ledger["head"] = async () => this.#store.read((items) => items.get(headKey));
  readonly wake: Ledger["wake"] = async () => this.#store.read((items) => existing(items, wakeKey));
  readonly epoch: Ledger["epoch"] = async (epoch) => this.#store.read((items) => items.get(epochKey(epoch)));
  readonly epochs: Ledger["epochs"] = async (range) => this.#store.read((items) => epochs(items, range));

  readonly plan: Ledger["plan"] = async (planned) => this.#store.write((items) => plan(items, planned), process);
  readonly ack: Ledger["ack"] = async (id, given, claims = false) =>
    this.#store.write((items) => ack(items, id, given), claims ? "durable" : process);
  readonly confirm: Ledger["confirm"] = async (id, task, sinks) =>
    this.#store.write((items) => confirm(items, id, task, sinks));
  readonly acks: Ledger["acks"] = async (id, stage) => this.#store.read((items) => acks(items, id, stage));
  readonly fail: Ledger["fail"] = async (id, failure) => this.#store.write((items) => fail(items, id, failure));
  readonly decide: Ledger["decide"] = async (id, decision) => this.#store.write((items) => decide(items, id, decision));
  readonly lose: Ledger["lose"] = async (id, decision) => this.#store.write((items) => lose(items, id, decision));
  readonly fence: Ledger["fence"] = async (...attempt) => this.#store.write((items) => fence(items, ...attempt));

  readonly units: Ledger["units"] = async (epoch, sink) => this.#store.read((items) => units(items, epoch, sink));
  readonly commitUnit: Ledger["commitUnit"] = async (epoch, sink, key) =>
    this.#store.write((items) => commitUnit(items, epoch, sink, key), process);
  readonly abandonUnit: Ledger["abandonUnit"] = async (epoch, sink, key) =>
    this.#store.write((items) => abandonUnit(items, epoch, sink, key));
  readonly recoverUnit: Ledger["recoverUnit"] = async (epoch, sink, key) =>
    this.#store.write((items) => recoverUnit(items, epoch, sink, key));
  readonly failCommit: Ledger["failCommit"] = async (epoch, failure) =>
    this.#store.write((items) => failCommit(items, epoch, failure));
  readonly commit: Ledger["commit"] = async (epoch, now) => this.#store.write((items) => commit(items, epoch, now));

  readonly stop: Ledger["stop"] = async (error, by) => this.#store.write((items) => stop(items, error, by));
  readonly setStatus: Ledger["setStatus"] = async (status) => this.#store.write((items) => setStatus(items, status));

  readonly increment: Ledger["increment"] = async (over) => this.#store.write((items) => increment(items, over));
  readonly grant: Ledger["grant"] = async (seen) => this.#store.write((items) => grant(items, seen));
  readonly handOver: Ledger["handOver"] = async (owner) => this.#store.write((items) => handOver(items, owner));
  readonly spend: Ledger["spend"] = async (owner, events) =>
    this.#store.write((items) => spend(items, owner, events), process);
  readonly release: Ledger["release"] = async (owner, sequence) =>
    this.#store.write((items) => release(items, owner, sequence));

  readonly drop: Ledger["drop"] = async (epochs) =>
    this.#store.write((items) => epochs.map((epoch) => drop(items, epoch)));
  readonly pin: Ledger["pin"] = async (epoch, name) => this.#store.write((items) => pin(items, epoch, name));
  readonly unpin: Ledger["unpin"] = async (epoch, name) => this.#store.write((items) => unpin(items, epoch, name));
  readonly restore: Ledger["restore"] = async (restored) => this.#store.write((items) => restore(items, restored));
  readonly trim: Ledger["trim"] = async (keep) => this.#store.write((items) => trim(items, keep));
  readonly close: Ledger["close"] = async () => this.#store.close();
}

export function epochs(items: ItemReader, { from, to }: { from: number; to: number }): EpochRow[] {
  return items
    .keys(epochKey(Math.max(0, from)), epochKey(to + 1))
    .filter(isEpochKey)
    .flatMap((key: Key<EpochRow>) => items.get(key) ?? []);
}
