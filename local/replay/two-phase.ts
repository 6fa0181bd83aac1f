import type { JournalUnit, ReplayJournal } from "../../shared/adapters/sqlite/replay-journal.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { systemRandom } from "../../shared/adapters/system/random.ts";
import { digest } from "../../shared/epoch/digest.ts";
import type { UserCodeError } from "../../shared/errors.ts";
import type { CommitLedger, TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import type { FailedRecord } from "./letter.ts";

/** Whose transactional ids, groups and objects these are (protocol §1, Names). */
export interface ReplayOwner {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
}

export type Refused = (record: FailedRecord, error: UserCodeError) => void;

/**
 * Batches of records into a sink, each once: staged, decided in the journal, committed; as an epoch is, with the journal for a ledger. A batch that was decided by a process
 * that died is committed first.
 */
export class BatchCommitter {
  readonly #journal: ReplayJournal;
  readonly #sink: TwoPhaseCommitSink<FailedRecord>;
  readonly #owner: ReplayOwner;

  constructor(journal: ReplayJournal, sink: TwoPhaseCommitSink<FailedRecord>, owner: ReplayOwner) {
    this.#journal = journal;
    this.#sink = sink;
    this.#owner = owner;
  }

  /** Commits what was decided before. Returns how many batches that were. */
  async open(): Promise<number> {
    await this.#sink.open(this.#owner);
    const [from, to] = [this.#journal.lastCommitted() + 1, this.#journal.last()];
    for (let number = from; number <= to; number++) await this.#commit(number);
    return to - from + 1;
  }

  /** Returns how many of the records the sink has taken. */
  async put(records: readonly FailedRecord[], onRefused: Refused): Promise<number> {
    const number = this.#journal.last() + 1;
    const now = systemClock.now();
    const transaction = await this.#sink.begin({
      ...this.#owner,
      ...{ epoch: number, attempt: 1, stage: 0, task: 0, nonce: systemRandom.nonce(), processingTime: now },
    });
    const refused = new Set<number>();
    const refuse = (index: number, error: UserCodeError) => {
      refused.add(index);
      onRefused(records[index]!, error);
    };
    transaction.write(records, refuse, (index) => records[index]!.timestamp ?? now);
    const handle = await this.#sink.preCommit(transaction);
    if (handle === undefined) return 0;
    const taken = records.filter((_, index) => !refused.has(index));
    const prepared = [{ stage: 0, task: 0, handle }];
    const decision = {
      epoch: number,
      token: digest({ number, handle }),
      previous: (key: string) => this.#journal.previous(key, number),
    };
    const units: readonly JournalUnit[] = this.#sink.units?.(prepared, decision) ?? [{ key: "0-0", unit: handle }];
    this.#journal.decide(
      { number, decidedAt: now, units },
      taken.map(({ id }) => id),
    );
    await this.#commit(number);
    return taken.length;
  }

  async #commit(number: number): Promise<void> {
    const batch = this.#journal.batch(number);
    for (const { key, unit } of batch?.units ?? [])
      await this.#sink.commit({ ...this.#owner, epoch: number, key, unit, ledger: this.#ledgerOf(key) });
    this.#journal.committed(number);
  }

  #ledgerOf(key: string): CommitLedger {
    const journal = this.#journal;
    return {
      async unit(number) {
        const batch = journal.batch(number);
        const found = batch?.units.find((unit) => unit.key === key);
        return batch && found && { status: batch.status, unit: found.unit };
      },
      decidedAt: async (number) => journal.batch(number)?.decidedAt,
      committed: async () => journal.lastCommitted(),
      recover: async () => {},
    };
  }
}
