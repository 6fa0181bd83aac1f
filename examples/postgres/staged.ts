import {
  LossError,
  type RefusedRow,
  type RowBatch,
  type SinkContext,
  type Transaction,
  UserCodeError,
} from "epochflow";
import type { ClientBase } from "pg";
import { encodeRow } from "./columns.ts";
import type { Doing } from "./errors.ts";
import type { Table } from "./table.ts";

/** A task's staged rows, by what they are named: what goes into the ledger. */
export type Staged = {
  readonly uid: string;
  readonly sink: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly stage: number;
  readonly task: number;
  readonly nonce: string;
  readonly rows: number;
};

/** An epoch's rows, with what tells its place among the others. */
export type Unit = { readonly token: string; readonly previous: number | null; readonly parts: readonly Staged[] };

/** Characters of JSON that are sent at a time. */
const chunkCharacters = 1 << 20;

type Run = <Result>(body: (client: ClientBase) => Promise<Result>) => Promise<Result>;

/** One task's rows on their way to the staging table. */
export class StagedRows<T> implements Transaction<T> {
  readonly #context: SinkContext;
  readonly #table: Table;
  readonly #run: Run;
  #texts: string[] = [];
  #characters = 0;
  #rows = 0;

  constructor(context: SinkContext, table: Table, run: Run) {
    this.#context = context;
    this.#table = table;
    this.#run = run;
  }

  write(rows: RowBatch<T>, refused?: RefusedRow): void {
    for (const [index, row] of rows.entries()) {
      try {
        const text = encodeRow(row, this.#table.columns);
        this.#texts.push(text);
        this.#characters += text.length;
      } catch (cause) {
        const error = this.#refusal(cause);
        if (!refused) throw error;
        refused(index, error);
      }
    }
  }

  async drained(): Promise<void> {
    if (this.#characters >= chunkCharacters) await this.#send();
  }

  async discard(): Promise<void> {
    this.#texts = [];
    if (this.#rows > 0) await this.#run((client) => this.#delete(client)).catch(() => {}); // or it is swept
  }

  /** All rows are there, durably, and are such that the table will take them. @throws UserCodeError `postgres-check` */
  async finish(): Promise<Staged | undefined> {
    await this.#send();
    if (this.#rows === 0) return undefined;
    await this.#check();
    const { uid, sink, epoch, attempt, stage, task, nonce } = this.#context;
    return { uid, sink, epoch, attempt, stage, task, nonce, rows: this.#rows };
  }

  /** A statement that is committed by itself. If its answer is lost, the attempt fails, and what it has written is swept. */
  async #send(): Promise<void> {
    if (this.#texts.length === 0) return;
    const content = `[${this.#texts.join()}]`;
    const first = this.#rows;
    this.#rows += this.#texts.length;
    this.#texts = [];
    this.#characters = 0;
    await this.#run((client) =>
      client.query(
        `INSERT INTO epochflow.staged (uid, sink, epoch, attempt, stage, task, nonce, position, content)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8::bigint + place, content FROM jsonb_array_elements($9) WITH ORDINALITY AS given (content, place)`,
        [...this.#name(), first, content],
      ),
    );
  }

  /** PostgreSQL converts each row, as the commit will, and looks at the constraints that concern a row alone. */
  async #check(): Promise<void> {
    const { name, checks } = this.#table;
    const broken = checks.map(({ condition }, index) => `WHEN NOT (${condition}) THEN ${index}`).join(" ");
    const { rows } = await this.#run((client) =>
      client.query<{ broken: number | null }>(
        `SELECT max(${broken ? `CASE ${broken} END` : "NULL::int"}) AS broken FROM (
           SELECT converted.* FROM epochflow.staged AS row, jsonb_populate_record(NULL::${name}, row.content) AS converted
           WHERE (row.uid, row.sink, row.epoch, row.attempt, row.stage, row.task, row.nonce) = ($1, $2, $3, $4, $5, $6, $7) OFFSET 0) AS rows`,
        this.#name(),
      ),
    );
    const check = rows[0]?.broken;
    if (check !== null && check !== undefined)
      throw this.#refusal(new Error(`it breaks the constraint ${checks[check]!.name}`), "postgres-check");
  }

  async #delete(client: ClientBase): Promise<void> {
    await client.query(
      "DELETE FROM epochflow.staged WHERE (uid, sink, epoch, attempt, stage, task, nonce) = ($1, $2, $3, $4, $5, $6, $7)",
      this.#name(),
    );
    this.#rows = 0;
  }

  #name(): (string | number)[] {
    const { uid, sink, epoch, attempt, stage, task, nonce } = this.#context;
    return [uid, sink, epoch, attempt, stage, task, nonce];
  }

  #refusal(cause: unknown, code = "postgres-row"): UserCodeError {
    const { pipeline, sink, epoch, attempt } = this.#context;
    const reason = cause instanceof Error ? cause.message : "it cannot be read";
    return new UserCodeError(code, `sink ${sink}: a row does not fit the table ${this.#table.name}: ${reason}`, {
      wayOut: "Map or filter rows before the sink, or change the table.",
      place: { pipeline, sink, epoch, attempt },
      cause,
    });
  }
}

/** What comes from the ledger is looked at before it is used. @throws LossError `handle-invalid` */
export function parseUnit(unit: Unit, { sink, epoch }: Doing): Unit {
  const isStaged = (part: Staged) =>
    part.sink === sink &&
    part.epoch === epoch &&
    [part.attempt, part.stage, part.task, part.rows].every(Number.isSafeInteger);
  const isPlace = typeof unit?.token === "string" && (unit.previous === null || Number.isSafeInteger(unit.previous));
  if (isPlace && Array.isArray(unit.parts) && unit.parts.every(isStaged)) return unit;
  throw new LossError(
    "handle-invalid",
    `the ledger's unit of sink ${sink} and epoch ${epoch} is not one that the sink made`,
    {
      wayOut: "The ledger is damaged: bring it back from a backup, or begin anew with `epochflow reset`.",
      place: { sink, ...(epoch !== undefined && { epoch }) },
    },
  );
}
