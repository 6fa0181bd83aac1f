/** Sinks with one mistake each, as people make them. Run as a program with the name of one, it runs the conformance suite on that. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CommitContext, Garbage, SinkContext, Transaction } from "epochflow";
import { sinkConformance } from "epochflow/testing";
import { temporaryFolder } from "../support/folder.ts";
import { type Open, type Owner, readRows, type Staged, TableSink } from "./table-sink.ts";

class ForgetsTheLastRow extends TableSink {
  override async preCommit(transaction: Transaction) {
    (transaction as Open).texts.pop();
    return await super.preCommit(transaction);
  }
}

class WritesAtPreCommit extends TableSink {
  override async preCommit(transaction: Transaction) {
    for (const text of (transaction as Open).texts) this.run("INSERT INTO rows VALUES (?)", text);
    return await super.preCommit(transaction);
  }
}

class PreparesNothing extends TableSink {
  override async preCommit(transaction: Transaction) {
    return (await super.preCommit(transaction)) ?? { name: (transaction as Open).name, count: 0 };
  }
}

/** What it stages while it writes stays. */
class LeavesThings extends TableSink {
  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    const { name } = transaction;
    const { uid, epoch, attempt } = context;
    const write: Transaction["write"] = (rows, refused) => {
      transaction.write(rows, refused);
      if (rows.length > 0) this.run("INSERT INTO staged VALUES (?, ?, ?, ?, ?)", `${name}+`, uid, epoch, attempt, "1");
    };
    return { ...transaction, write };
  }
}

/** Attempts write to the same place. */
class NamesByEpoch extends TableSink {
  override async begin(context: SinkContext) {
    return { ...(await super.begin(context)), name: `${context.epoch}.${context.task}` };
  }
}

class CommitsAgain extends TableSink {
  override async commit({ unit }: CommitContext<Staged>) {
    this.run("INSERT INTO rows SELECT row FROM staged WHERE name = ?", unit.name);
  }
}

/** A committer that comes when all is over finds no trace of the others. */
class ForgetsCommits extends TableSink {
  protected override sealed(): number {
    return 0;
  }
}

class LooksBeforeItLeaps extends TableSink {
  override async commit(context: CommitContext<Staged>) {
    const isThere = this.one("SELECT * FROM commits WHERE (epoch, key) = (?, ?)", context.epoch, context.key);
    if (isThere || context.epoch <= this.sealed()) return;
    await nextTurn();
    this.run("INSERT INTO rows SELECT row FROM staged WHERE name = ?", context.unit.name);
    this.claim(context.epoch, context.key, "committed");
  }
}

class TakesAnyOwner extends TableSink {
  override async open() {}
}

class TakesTheLastOwner extends TableSink {
  override async open(owner: Owner) {
    const isFree = this.one("SELECT * FROM owner") === undefined;
    await nextTurn();
    if (isFree) this.run("DELETE FROM owner");
    await super.open(owner);
  }
}

class ThrowsAnything extends TableSink {
  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    const write: Transaction["write"] = (rows) => {
      for (const row of rows) if (typeof row === "function") throw new TypeError("odd");
      transaction.write(rows);
    };
    return { ...transaction, write };
  }
}

class RefusesAll extends TableSink {
  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    return { ...transaction, write: ((rows) => transaction.write(rows)) as Transaction["write"] };
  }
}

class SweepsAll extends TableSink {
  override async sweep(owner: Owner, _: Garbage) {
    return await super.sweep(owner, () => true);
  }
}

class AbortsNothing extends TableSink {
  override async abort() {}
}

class AbandonsInWords extends TableSink {
  override async abandon() {
    return "lost" as const;
  }
}

/** Does the commit that comes later, but not the one that has been. */
class AbandonsBlindly extends TableSink {
  override async abandon(context: CommitContext<Staged>) {
    await super.abandon(context);
    return "lost" as const;
  }
}

/** One buffer for whatever is open. */
class SharesItsBuffer extends TableSink {
  readonly #texts: string[] = [];

  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    const write: Transaction["write"] = (rows, refused) => {
      transaction.write(rows, refused);
      this.#texts.push(...transaction.texts.splice(0));
    };
    return { ...transaction, write };
  }

  override async preCommit(transaction: Transaction) {
    (transaction as Open).texts.push(...this.#texts.splice(0));
    return await super.preCommit(transaction);
  }
}

class ForgetsColumns extends TableSink {
  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    return { ...transaction, writeColumns: () => {} };
  }
}

class PublishesWhileItWrites extends TableSink {
  override async begin(context: SinkContext) {
    const transaction = await super.begin(context);
    const write: Transaction["write"] = (rows, refused) => {
      transaction.write(rows, refused);
      if (context.direct) void this.publish({ ...transaction, texts: transaction.texts.splice(0) } as Transaction);
    };
    return { ...transaction, write };
  }
}

/** As if a second invocation were a repetition of the first. */
class PublishesOnce extends TableSink {
  override async publish(transaction: Transaction) {
    const { epoch, stage, task } = (transaction as Open).context;
    if (this.claim(epoch, `${stage}-${task}`, "committed")) await super.publish(transaction);
  }
}

class PublishesNothing extends TableSink {
  override async publish(transaction: Transaction) {
    await super.publish(transaction);
    if ((transaction as Open).texts.length === 0) this.run("INSERT INTO rows VALUES ('{}')");
  }
}

/** By its mistake, and the check of the suite that must find it. */
export const brokenSinks: Readonly<Record<string, readonly [sink: typeof TableSink, check: RegExp]>> = {
  "forgets the last row": [ForgetsTheLastRow, /rows of committed epochs are seen/],
  "writes at pre-commit": [WritesAtPreCommit, /nothing is seen before the commit/],
  "prepares nothing": [PreparesNothing, /a task without rows/],
  "leaves things": [LeavesThings, /given up leaves nothing/],
  "names by epoch": [NamesByEpoch, /die before the decision/],
  "names by epoch, zombie": [NamesByEpoch, /zombie may go on before the decision/],
  "commits again": [CommitsAgain, /die after the decision/],
  "commits again, twice": [CommitsAgain, /may come twice$/],
  "forgets commits": [ForgetsCommits, /zombie may complete an epoch long after/],
  "looks before it leaps": [LooksBeforeItLeaps, /two processes may complete/],
  "takes any owner": [TakesAnyOwner, /belongs to another ledger/],
  "takes the last owner": [TakesTheLastOwner, /of two that open a target/],
  "throws anything": [ThrowsAnything, /is the user's error/],
  "refuses all": [RefusesAll, /is refused, where one asks/],
  "sweeps all": [SweepsAll, /a sweep deletes/],
  "aborts nothing": [AbortsNothing, /an abort may come twice/],
  "abandons in words": [AbandonsInWords, /what is given up is never seen/],
  "abandons blindly": [AbandonsBlindly, /what was committed before it is given up/],
  "publishes while it writes": [PublishesWhileItWrites, /seen at once, and nothing before/],
  "publishes once": [PublishesOnce, /take nobody's place/],
  "publishes nothing": [PublishesNothing, /without rows publishes nothing/],
  "forgets columns": [ForgetsColumns, /rows in columns/],
  "shares its buffer": [SharesItsBuffer, /side by side/],
};

/** The suite on a fresh table. */
export function checkSink(name: string, Sink: typeof TableSink): void {
  sinkConformance(name, async () => {
    const folder = temporaryFolder();
    const file = `${folder.path}/table.sqlite`;
    const sinks: TableSink[] = [];
    return {
      open() {
        const sink = new Sink(file);
        sinks.push(sink);
        return sink;
      },
      read: async () => readRows<{ number: number }>(file),
      row: (number) => ({ number }),
      badRow: (() => {}) as never,
      exclusive: true,
      async close() {
        for (const sink of sinks) await sink.close();
        folder[Symbol.dispose]();
      },
    };
  });
}

if (import.meta.main) checkSink(process.argv[2]!, brokenSinks[process.argv[2]!]?.[0] ?? TableSink);
