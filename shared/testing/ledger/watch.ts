import assert from "node:assert/strict";
import type { DecidedEpoch, EpochRow } from "../../epoch/epoch.ts";
import type { Head, Ledger } from "../../ports/ledger.ts";

/** Looks at a ledger again and again, and remembers what must not change. */
export class Watch {
  /** How many increments were made. */
  increments = 0;
  decided = 0;
  committed = 0;
  #run = 0;
  readonly #decisions = new Map<number, string>();
  readonly #acks = new Map<string, string>();

  async look(ledger: Ledger): Promise<void> {
    const head = await ledger.head();
    assert(head);
    const rows = await ledger.epochs({ from: 1, to: head.decided + 2 });
    this.#numbersNeverGoBack(head);
    this.#decisionsNeverChange(head, rows);
    rangesAreContiguous(rows);
    await this.#acksNeverChange(ledger, rows);
    await commitsAreInOrder(ledger, head, rows);
    checkpointsAreHeld(head, rows);
    await this.#leaseIsWithTheLastRun(ledger);
  }

  #numbersNeverGoBack({ decided, committed }: Head): void {
    assert(decided >= this.decided && committed >= this.committed && committed <= decided, "I3, I4: HEAD went back");
    Object.assign(this, { decided, committed });
  }

  #decisionsNeverChange(head: Head, rows: readonly EpochRow[]): void {
    for (const row of rows) {
      assert.equal(row.status === "decided", row.epoch <= head.decided, `I3: epoch ${row.epoch} and HEAD disagree`);
      if (row.status !== "decided") continue;
      const what = JSON.stringify([row.attempt, row.plan, row.decision]);
      assert.equal(what, this.#decisions.get(row.epoch) ?? what, `I1: what epoch ${row.epoch} decided has changed`);
      this.#decisions.set(row.epoch, what);
    }
  }

  async #acksNeverChange(ledger: Ledger, rows: readonly EpochRow[]): Promise<void> {
    for (const { epoch, attempt } of rows.slice(-3))
      for (const ack of await ledger.acks({ epoch, attempt })) {
        const key = `${epoch}.${attempt}.${ack.task}`;
        assert.equal(ack.nonce, this.#acks.get(key) ?? ack.nonce, `I2: ack ${key} has changed`);
        this.#acks.set(key, ack.nonce);
      }
  }

  async #leaseIsWithTheLastRun(ledger: Ledger): Promise<void> {
    const { owner, run, sequence } = await ledger.wake();
    assert(owner === null || owner === run, "the lease is not with the last run");
    assert(run >= this.#run, "run numbers went back");
    assert.equal(sequence, this.increments, "I7: an increment was lost");
    this.#run = run;
  }
}

function rangesAreContiguous(rows: readonly EpochRow[]): void {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    if (before?.status !== "decided" || before.epoch !== row.epoch - 1) continue;
    if (row.status === "decided" && row.decision.kind === "restore") continue;
    const [from, position] = [row.plan.partitions[0]?.from, before.decision.partitions[0]?.position];
    assert.equal(from, position, `I1: epoch ${row.epoch} does not start where ${before.epoch} ended`);
  }
}

async function commitsAreInOrder(ledger: Ledger, head: Head, rows: readonly EpochRow[]): Promise<void> {
  for (const row of rows.filter((one): one is DecidedEpoch => one.status === "decided").slice(-5)) {
    const units = await ledger.units(row.epoch);
    const isCommitted = row.epoch <= head.committed;
    assert.equal(row.committedAt !== null, isCommitted, `I4: epoch ${row.epoch} and HEAD disagree`);
    if (isCommitted)
      assert(
        units.every((one) => one.status !== "prepared"),
        `I4: epoch ${row.epoch} is committed, a unit is not`,
      );
    else assert.equal(units.length, row.decision.unitCount, `I5: a unit of the uncommitted epoch ${row.epoch} is gone`);
  }
}

function checkpointsAreHeld(head: Head, rows: readonly EpochRow[]): void {
  if (head.decided > 0)
    assert(
      rows.some((one) => one.epoch === head.decided),
      "I5: the last checkpoint is gone",
    );
  for (const row of rows)
    if (row.status === "decided" && row.dropped)
      assert(row.pins.length === 0 && row.epoch < head.decided, `I5: checkpoint ${row.epoch} is held and dropped`);
}
