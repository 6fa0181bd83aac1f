import {
  type BoundOptions,
  type CommitContext,
  type CommitUnit,
  type Garbage,
  LossError,
  type PreparedTask,
  type SinkContext,
  type Transaction,
  type TwoPhaseCommitSink,
  type UnitDecision,
} from "epochflow";
import type { ClientBase, Pool } from "pg";
import { createBookkeeping, isNext, lockMarker, type Owner, setMarker, takePossession } from "./bookkeeping.ts";
import { connect, inTransaction } from "./connection.ts";
import { commitFailure, type Doing, failure, stagingFailure } from "./errors.ts";
import { moveRows } from "./move.ts";
import type { PostgresConnectionOptions } from "./postgres.ts";
import { parseUnit, type Staged, StagedRows, type Unit } from "./staged.ts";
import { describeTable, type Table } from "./table.ts";

export interface Settings {
  readonly connection: BoundOptions<PostgresConnectionOptions>;
  readonly table: string;
  readonly columns: readonly string[];
  readonly upsert: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Two-phase commit with a commit table. Before the decision rows are staged in a table of the database, where no reader looks. Commit moves an epoch's rows from there into the user's
 * table, and sets the mark of that epoch, in one transaction: so the mark is there if and only if the rows are.
 */
export class PostgresSink<T> implements TwoPhaseCommitSink<T, Staged, Unit> {
  readonly #settings: Settings;
  readonly #pool: Pool;
  #table: Promise<Table> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#pool = connect(settings.connection, settings.timeoutMs);
  }

  async open(owner: Owner): Promise<void> {
    const doing = this.#doing(owner);
    await this.#atomic(failure, doing, async (client) => {
      await createBookkeeping(client);
      this.#table = undefined; // it may have been changed since
      await this.#described(client, doing);
      await takePossession(client, owner, doing);
    });
  }

  async begin(context: SinkContext): Promise<StagedRows<T>> {
    const doing = this.#doing(context);
    const table = await this.#run(failure, doing, (client) => this.#described(client, doing));
    return new StagedRows(context, table, (body) => this.#run(stagingFailure, doing, body));
  }

  async preCommit(transaction: Transaction<T>): Promise<Staged | undefined> {
    return await (transaction as StagedRows<T>).finish();
  }

  /** For the weaker guarantees: the rows go where they belong at once, and no marker tells of them. */
  async publish(transaction: Transaction<T>): Promise<void> {
    const staged = await this.preCommit(transaction);
    if (staged === undefined) return;
    const doing = this.#doing(staged);
    await this.#atomic(stagingFailure, doing, async (client) => {
      await moveRows(client, await this.#described(client, doing), staged, [staged]);
    });
  }

  /** One for all tasks of an epoch, so that it is there as a whole or not at all. */
  units(prepared: readonly PreparedTask<Staged>[], { token, previous }: UnitDecision): CommitUnit<Unit>[] {
    if (prepared.length === 0) return [];
    return [
      { key: "table", unit: { token, previous: previous("table"), parts: prepared.map(({ handle }) => handle) } },
    ];
  }

  async commit(context: CommitContext<Unit>): Promise<void> {
    const doing = this.#doing(context);
    const unit = parseUnit(context.unit, doing);
    await this.#atomic(commitFailure, doing, async (client) => {
      const marker = await lockMarker(client, context, doing);
      if (!(await isNext({ ...context, unit }, marker, doing))) return;
      const table = await this.#described(client, doing);
      const moved = await moveRows(client, table, context, unit.parts);
      const staged = unit.parts.reduce((sum, { rows }) => sum + rows, 0);
      if (moved !== staged)
        throw new LossError("postgres-staged-missing", `of ${staged} staged rows ${moved} are there`, {
          wayOut: `Bring back epochflow.staged from a backup and \`epochflow resume\`, or \`epochflow abandon --sink ${doing.sink} --epoch ${doing.epoch}\`.`,
          place: { sink: doing.sink, epoch: context.epoch },
        });
      await setMarker(client, { epoch: context.epoch, token: unit.token, outcome: "committed" }, doing);
    });
  }

  /** Takes the place of the commit: whoever comes to commit the epoch after this finds its mark, and is done. */
  async abandon(context: CommitContext<Unit>): Promise<"committed" | "lost" | "unknown"> {
    const doing = this.#doing(context);
    const { epoch } = context;
    return await this.#atomic(failure, doing, async (client) => {
      const marker = await lockMarker(client, context, doing);
      if (marker.epoch > epoch) return "unknown";
      if (marker.epoch === epoch) return marker.outcome === "committed" ? "committed" : "lost";
      await setMarker(client, { epoch, token: context.unit.token, outcome: "abandoned" }, doing);
      return "lost";
    });
  }

  async abort({ uid, sink, epoch, attempt, stage, task, nonce }: Staged): Promise<void> {
    await this.#run(failure, { sink, epoch, table: this.#settings.table }, (client) =>
      client.query(
        "DELETE FROM epochflow.staged WHERE (uid, sink, epoch, attempt, stage, task, nonce) = ($1, $2, $3, $4, $5, $6, $7)",
        [uid, sink, epoch, attempt, stage, task, nonce],
      ),
    );
  }

  async sweep({ uid, sink }: Owner, garbage: Garbage): Promise<number> {
    return await this.#run(failure, this.#doing({ sink }), async (client) => {
      const { rows } = await client.query<{ epoch: string; attempt: string }>(
        "SELECT DISTINCT epoch, attempt FROM epochflow.staged WHERE uid = $1 AND sink = $2",
        [uid, sink],
      );
      const names = rows.map(({ epoch, attempt }) => ({ epoch: Number(epoch), attempt: Number(attempt) }));
      let swept = 0;
      for (const { epoch, attempt } of names.filter(garbage)) {
        const { rowCount } = await client.query(
          "DELETE FROM epochflow.staged WHERE (uid, sink, epoch, attempt) = ($1, $2, $3, $4)",
          [uid, sink, epoch, attempt],
        );
        swept += rowCount ?? 0;
      }
      return swept;
    });
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  #doing({ sink, epoch }: { readonly sink: string; readonly epoch?: number }): Doing {
    return { sink, table: this.#settings.table, ...(epoch !== undefined && { epoch }) };
  }

  #described(client: ClientBase, doing: Doing): Promise<Table> {
    this.#table ??= describeTable(client, this.#settings, doing);
    this.#table.catch(() => {
      this.#table = undefined;
    });
    return this.#table;
  }

  /** @param explain what an error means here */
  async #run<Result>(
    explain: typeof failure,
    doing: Doing,
    body: (client: ClientBase) => Promise<Result>,
  ): Promise<Result> {
    try {
      const client = await this.#pool.connect();
      try {
        return await body(client);
      } finally {
        client.release();
      }
    } catch (error) {
      throw explain(error, doing);
    }
  }

  async #atomic<Result>(
    explain: typeof failure,
    doing: Doing,
    body: (client: ClientBase) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await inTransaction(this.#pool, body);
    } catch (error) {
      throw explain(error, doing);
    }
  }
}
