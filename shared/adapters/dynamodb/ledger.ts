import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EpochRow } from "../../epoch/epoch.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { ack, acks, confirm, fail, fence } from "../items/attempts.ts";
import { abandonUnit, commit, commitUnit, failCommit, recoverUnit, units } from "../items/committing.ts";
import { grant, handOver, increment, open, release, setStatus, spend, stop } from "../items/coordination.ts";
import { decide, lose, restore } from "../items/deciding.ts";
import type { Key } from "../items/item-store.ts";
import { ackKey, epochKey, existing, headKey, missing, wakeKey } from "../items/layout.ts";
import { epochs } from "../items/ledger.ts";
import { plan } from "../items/planning.ts";
import { drop, pin, trim, unpin } from "../items/retention.ts";
import { OptimisticStore } from "./optimistic.ts";
import { Overflow } from "./overflow.ts";
import { objectsOf } from "./rows.ts";
import { Table } from "./table.ts";

export interface DynamoLedgerOptions {
  readonly client: DynamoDBClient;
  /** A table with the keys `pk` and `sk`, both texts. Several pipelines may share it. */
  readonly table: string;
  readonly pipeline: string;
  /** Where values lie that are too long for a row. */
  readonly objects: ObjectStore;
}

/**
 * The ledger in a DynamoDB table: the verbs of `../items`, which all ledgers share, each as one conditional write.
 *
 * **Why that is correct.** A verb is run on rows that were read one by one. A transaction then writes its rows and checks that every other row that it has used
 * is unchanged since, by its revision: so all of it is as if it had run alone at that moment; else it is run again (optimistic concurrency control). Rows that
 * are deleted never come back, so a revision is never met twice. Four things are not checked, since they cannot become wrong:
 *
 * - *A decided epoch*, where a verb only reads it: status, attempt, plan and decision never change (I1).
 * - *Lists.* `decide` counts acks: each was put under its attempt, none is ever changed or deleted while its epoch is planned at that attempt, which
 *   the transaction checks. So no ack goes missing; nor can one appear, since the caller counts until every task of the attempt plan has one, and a key is
 *   taken once. `commit` lists units: they were all written with the decision, and once committed or abandoned a unit never is prepared again. What a verb
 *   refuses by a list (`incomplete`, `gone`) was so when the list was read; what it throws by one is thrown only if the rows beside are unchanged.
 * - *What `ack` and the verbs of a unit rest on* (not of an ack that claims rows: that is a transaction with its epoch's row, and a fence is in it or after it; `confirm` adds to
 *   an ack what no verb that decides rests on). They write one row, conditional on itself alone, half as dear as a transaction; and the acks of many tasks,
 *   which all would check the epoch's row, cannot get into each other's way (two transactions that meet at a row cancel each other). An ack that was begun
 *   while its attempt was planned may thus land after the attempt was fenced or superseded. Nothing ever reads it but `abort`, which ends what it names, or
 *   else leaves that to the sweep, and `trim`, which deletes it. It cannot land in a decided attempt: all acks of that are there, so it finds the one
 *   that counts. Units: their row says decided, and the order of commits, once true, stays true.
 * - *HEAD, where a checkpoint is dropped.* That a later epoch is decided, once true, stays true; pins are in the row itself.
 *
 * **Begin with what is known.** `plan`, `decide` and `commit` are called by whoever has just read what they rest on, with the same ledger. So they are first run on
 * that (`Recent`), and this run counts only if it writes: the transaction checks all rows as ever, and what need not be checked is as true of an older reading.
 * HEAD is read again where the other branch of the state machine writes it meanwhile.
 *
 * `trim` deletes row by row: what made a row unneeded (committed, superseded, dropped) never changes either.
 *
 * **Unknown outcomes.** A transaction that is sent again has its token, so it happens once. The verbs of single puts may be done twice.
 *
 * Errors: InfrastructureError as `awsError` has them, and `ledger-busy`; LossError `ledger-missing`, `ledger-object-missing`, `ledger-object-damaged`.
 */
export class DynamoLedger implements Ledger {
  readonly #store: OptimisticStore;
  readonly #overflow: Overflow;
  #uid: string | undefined;

  constructor({ client, table, pipeline, objects }: DynamoLedgerOptions) {
    const rows = new Table(client, table, pipeline);
    this.#overflow = new Overflow(objects, async () => `${pipeline}/${await this.#uidOf(rows)}/ledger/`);
    this.#store = new OptimisticStore(rows, this.#overflow);
  }

  readonly open: Ledger["open"] = (first) => this.#store.write([headKey], (items) => open(items, first));
  readonly head: Ledger["head"] = () => this.#store.read([headKey], (items) => items.get(headKey));
  readonly wake: Ledger["wake"] = () => this.#store.read([wakeKey], (items) => existing(items, wakeKey));
  readonly epoch: Ledger["epoch"] = (epoch) =>
    this.#store.read([epochKey(epoch)], (items) => items.get(epochKey(epoch)));
  readonly epochs: Ledger["epochs"] = (range) => this.#store.read([], (items) => epochs(items, range));

  readonly plan: Ledger["plan"] = (write) =>
    this.#store.write([], (items) => plan(items, write), [headKey, wakeKey, ...withLast(write.epoch)]);
  readonly ack: Ledger["ack"] = (id, given, claims = false) =>
    this.#store[claims ? "write" : "settle"]([epochKey(id.epoch), ackKey(id, given)], (items) => ack(items, id, given));
  readonly confirm: Ledger["confirm"] = (id, task, sinks) =>
    this.#store.settle([ackKey(id, task)], (items) => confirm(items, id, task, sinks));
  readonly acks: Ledger["acks"] = (id, stage) => this.#store.read([], (items) => acks(items, id, stage));
  readonly fail: Ledger["fail"] = (id, failure) =>
    this.#store.write([epochKey(id.epoch)], (items) => fail(items, id, failure));
  readonly decide: Ledger["decide"] = (id, write) =>
    this.#store.write([headKey], (items) => decide(items, id, write), withLast(id.epoch));
  readonly lose: Ledger["lose"] = (id, write) =>
    this.#store.write([headKey, ...withLast(id.epoch)], (items) => lose(items, id, write));
  readonly fence: Ledger["fence"] = (id, failure, owner) =>
    this.#store.write([epochKey(id.epoch), ...(owner === undefined ? [] : [wakeKey])], (items) =>
      fence(items, id, failure, owner),
    );

  readonly units: Ledger["units"] = (epoch, sink) =>
    this.#store.read([epochKey(epoch)], (items) => units(items, epoch, sink));
  readonly commitUnit: Ledger["commitUnit"] = (...unit) =>
    this.#store.settle([headKey, epochKey(unit[0])], (items) => commitUnit(items, ...unit));
  readonly abandonUnit: Ledger["abandonUnit"] = (...unit) =>
    this.#store.settle([epochKey(unit[0])], (items) => abandonUnit(items, ...unit));
  readonly recoverUnit: Ledger["recoverUnit"] = (...unit) =>
    this.#store.settle([epochKey(unit[0])], (items) => recoverUnit(items, ...unit));
  readonly failCommit: Ledger["failCommit"] = (epoch, failure) =>
    this.#store.write([epochKey(epoch)], (items) => failCommit(items, epoch, failure));
  readonly commit: Ledger["commit"] = (epoch, now) =>
    this.#store.write([headKey], (items) => commit(items, epoch, now), [epochKey(epoch)]);

  readonly stop: Ledger["stop"] = (error, by) => this.#store.write([headKey], (items) => stop(items, error, by));
  readonly setStatus: Ledger["setStatus"] = (status) =>
    this.#store.write([headKey], (items) => setStatus(items, status));

  readonly increment: Ledger["increment"] = (over) => this.#store.write([wakeKey], (items) => increment(items, over));
  readonly grant: Ledger["grant"] = (seen) => this.#store.write([wakeKey], (items) => grant(items, seen));
  readonly handOver: Ledger["handOver"] = (owner) => this.#store.write([wakeKey], (items) => handOver(items, owner));
  readonly spend: Ledger["spend"] = (owner, events) =>
    this.#store.write([wakeKey], (items) => spend(items, owner, events));
  readonly release: Ledger["release"] = (owner, sequence) =>
    this.#store.write([wakeKey, headKey], (items) => release(items, owner, sequence));

  readonly drop: Ledger["drop"] = async (epochs) => {
    const outcomes: ReturnType<typeof drop>[] = [];
    for (const epoch of epochs)
      outcomes.push(await this.#store.settle([headKey, epochKey(epoch)], (items) => drop(items, epoch)));
    return outcomes;
  };
  readonly pin: Ledger["pin"] = (epoch, name) =>
    this.#store.write([epochKey(epoch)], (items) => pin(items, epoch, name));
  readonly unpin: Ledger["unpin"] = (epoch, name) =>
    this.#store.write([epochKey(epoch)], (items) => unpin(items, epoch, name));
  readonly restore: Ledger["restore"] = (write) =>
    this.#store.write([headKey, ...withLast(write.epoch)], (items) => restore(items, write));

  /** Deletes the objects, too, that held values of rows which went, and of writes that came to nothing. */
  readonly trim: Ledger["trim"] = async (keep) => {
    const { value, left } = await this.#store.sweep((items) => {
      const rows = trim(items, keep);
      const { committed } = existing(items, headKey);
      return { rows, below: Math.max(1, Math.min(keep.detailsFrom, committed + 1)) };
    });
    const named = new Set(left.flatMap(objectsOf));
    await this.#overflow.sweep(epochKey(value.below).slice(epochKey(0).indexOf("#") + 1), named);
    return value.rows;
  };
  readonly close: Ledger["close"] = async () => {};

  async #uidOf(rows: Table): Promise<string> {
    this.#uid ??= (await rows.get(headKey))?.uid?.S;
    return this.#uid ?? missing(headKey);
  }
}

/** The row of an epoch, and of the one that it goes on from. */
function withLast(epoch: number): Key<EpochRow>[] {
  return epoch > 1 ? [epochKey(epoch), epochKey(epoch - 1)] : [epochKey(epoch)];
}
