import { DatabaseSync } from "node:sqlite";
import {
  type CommitContext,
  type CommitUnit,
  type Garbage,
  LossError,
  type PreparedTask,
  type SinkContext,
  type Transaction,
  type TwoPhaseCommitSink,
  UserCodeError,
} from "epochflow";

const schema = `
  CREATE TABLE IF NOT EXISTS owner (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT, sealed INTEGER DEFAULT 0);
  CREATE TABLE IF NOT EXISTS staged (name TEXT, uid TEXT, epoch INTEGER, attempt INTEGER, row TEXT);
  CREATE TABLE IF NOT EXISTS commits (epoch INTEGER, key TEXT, outcome TEXT, PRIMARY KEY (epoch, key));
  CREATE TABLE IF NOT EXISTS rows (row TEXT);`;

export interface Owner {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
}
export type Staged = { readonly name: string; readonly count: number };
export interface Open extends Transaction {
  readonly name: string;
  readonly context: SinkContext;
  readonly texts: string[];
}

/** Rows in a table of SQLite: as small as a sink can be that keeps all that the protocol asks of one. */
export class TableSink implements TwoPhaseCommitSink<unknown, Staged, Staged> {
  readonly database: DatabaseSync;

  constructor(file: string) {
    this.database = new DatabaseSync(file, { timeout: 10_000 });
    this.database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
  }

  async open({ pipeline, uid, sink }: Owner): Promise<void> {
    const name = `${pipeline}/${uid}/${sink}`;
    this.run("INSERT INTO owner (one, name) VALUES (1, ?) ON CONFLICT DO NOTHING", name);
    const owner = this.one<{ name: string }>("SELECT name FROM owner")!.name;
    if (owner !== name) throw new LossError("foreign-target", `the table belongs to ${owner}`);
  }

  async begin(context: SinkContext): Promise<Open> {
    const { epoch, attempt, stage, task, nonce, sink } = context;
    const texts: string[] = [];
    return {
      context,
      name: [epoch, attempt, stage, task, nonce].join("."),
      texts,
      write: (rows, refused) =>
        rows.forEach((row, index) => void encode(row, sink, texts, refused && ((e) => refused(index, e)))),
      drained: async () => {},
    };
  }

  async preCommit(transaction: Transaction): Promise<Staged | undefined> {
    const { name, texts, context } = transaction as Open;
    if (texts.length === 0) return undefined;
    this.atomic(() => {
      for (const text of texts)
        this.run("INSERT INTO staged VALUES (?, ?, ?, ?, ?)", name, context.uid, context.epoch, context.attempt, text);
    });
    return { name, count: texts.length };
  }

  async publish(transaction: Transaction): Promise<void> {
    const { texts } = transaction as Open;
    this.atomic(() => {
      for (const text of texts) this.run("INSERT INTO rows VALUES (?)", text);
    });
  }

  units(prepared: readonly PreparedTask<Staged>[]): CommitUnit<Staged>[] {
    return prepared.map(({ stage, task, handle }) => ({ key: `${stage}-${task}`, unit: handle }));
  }

  async commit({ epoch, key, unit }: CommitContext<Staged>): Promise<void> {
    this.atomic(() => {
      if (epoch <= this.sealed() || !this.claim(epoch, key, "committed")) return;
      const moved = this.run("INSERT INTO rows SELECT row FROM staged WHERE name = ? ORDER BY rowid", unit.name);
      if (moved !== unit.count) throw new LossError("staged-missing", `${moved} of ${unit.count} rows are staged`);
      this.run("DELETE FROM staged WHERE name = ?", unit.name);
    });
  }

  async abandon({ epoch, key }: CommitContext<Staged>): Promise<"committed" | "lost" | "unknown"> {
    return this.atomic(() => {
      if (epoch <= this.sealed()) return "unknown";
      this.claim(epoch, key, "lost");
      const { outcome } = this.one<{ outcome: "committed" | "lost" }>(
        "SELECT outcome FROM commits WHERE (epoch, key) = (?, ?)",
        epoch,
        key,
      )!;
      return outcome;
    });
  }

  async abort({ name }: Staged): Promise<void> {
    this.run("DELETE FROM staged WHERE name = ?", name);
  }

  async seal({ epoch }: { epoch: number }): Promise<void> {
    this.atomic(() => {
      this.run("UPDATE owner SET sealed = max(sealed, ?)", epoch);
      this.run("DELETE FROM commits WHERE epoch <= ?", epoch);
    });
  }

  async sweep({ uid }: Owner, garbage: Garbage): Promise<number> {
    const names = this.database
      .prepare("SELECT DISTINCT name, epoch, attempt FROM staged WHERE uid = ?")
      .all(uid) as unknown as { name: string; epoch: number; attempt: number }[];
    const old = names.filter(garbage);
    for (const { name } of old) this.run("DELETE FROM staged WHERE name = ?", name);
    return old.length;
  }

  async close(): Promise<void> {
    if (this.database.isOpen) this.database.close();
  }

  /** Whether nobody has settled the unit before. */
  protected claim(epoch: number, key: string, outcome: "committed" | "lost"): boolean {
    return this.run("INSERT INTO commits VALUES (?, ?, ?) ON CONFLICT DO NOTHING", epoch, key, outcome) === 1;
  }

  protected sealed(): number {
    return this.one<{ sealed: number }>("SELECT sealed FROM owner")?.sealed ?? 0;
  }

  protected atomic<Result>(body: () => Result): Result {
    this.database.exec("BEGIN IMMEDIATE");
    try {
      const result = body();
      this.database.exec("COMMIT");
      return result;
    } catch (error) {
      this.database.exec("ROLLBACK");
      throw error;
    }
  }

  protected run(sql: string, ...values: (string | number)[]): number {
    return Number(this.database.prepare(sql).run(...values).changes);
  }

  protected one<Row>(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.database.prepare(sql).get(...values) as Row | undefined;
  }
}

function encode(
  row: unknown,
  sink: string,
  texts: string[],
  refused: ((error: UserCodeError) => void) | undefined,
): void {
  const text = typeof row === "function" ? undefined : JSON.stringify(row);
  if (text !== undefined) texts.push(text);
  else {
    const error = new UserCodeError("odd-row", "JSON cannot say the row", { place: { sink } });
    if (!refused) throw error;
    refused(error);
  }
}

/** What readers see. */
export function readRows<Row>(file: string): Row[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare("SELECT row FROM rows").all() as { row: string }[];
  database.close();
  return rows.map(({ row }) => JSON.parse(row) as Row);
}
