import { InfrastructureError, UsageError } from "epochflow";
import { type ClientBase, escapeIdentifier } from "pg";
import type { Column } from "./columns.ts";
import { type Doing, placeOf } from "./errors.ts";

/** What the sink knows of its table. */
export interface Table {
  /** With its schema, quoted. */
  readonly name: string;
  readonly columns: readonly Column[];
  readonly upsert: readonly string[];
  /** CHECK constraints, as conditions on a row. */
  readonly checks: readonly { readonly name: string; readonly condition: string }[];
}

interface Wanted {
  readonly columns: readonly string[];
  readonly upsert: readonly string[];
}

/**
 * Looks at the table, and whether it can take what the sink is to write.
 *
 * @throws InfrastructureError `postgres-table-missing`; UsageError `postgres-columns`, `postgres-upsert`
 */
export async function describeTable(client: ClientBase, wanted: Wanted, doing: Doing): Promise<Table> {
  const { rows: found } = await client.query<{ id: number; name: string }>(
    `SELECT c.oid AS id, format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p')`,
    [doing.table.split(".").map(escapeIdentifier).join(".")],
  );
  const [table] = found;
  if (!table)
    throw new InfrastructureError("postgres-table-missing", `sink ${doing.sink}: there is no table ${doing.table}`, {
      wayOut: `Create it with the columns ${wanted.columns.join(", ")}; the sink makes none.`,
      place: placeOf(doing),
    });
  const columns = await columnsOf(client, table.id);
  checkColumns(columns, wanted, doing);
  if (wanted.upsert.length > 0) await checkUnique(client, table.id, wanted, doing);
  const { rows: checks } = await client.query<Table["checks"][number]>(
    "SELECT conname AS name, pg_get_expr(conbin, conrelid) AS condition FROM pg_constraint WHERE conrelid = $1 AND contype = 'c'",
    [table.id],
  );
  const filled = wanted.columns.map((name) => columns.find((column) => column.name === name)!);
  return { name: table.name, columns: filled, upsert: wanted.upsert, checks };
}

interface TableColumn extends Column {
  readonly hasDefault: boolean;
  readonly generated: boolean;
}

async function columnsOf(client: ClientBase, table: number): Promise<TableColumn[]> {
  const { rows } = await client.query<TableColumn>(
    `SELECT attname AS name, typname AS type, NOT attnotnull AS nullable,
       atthasdef OR attidentity <> '' AS "hasDefault", attgenerated <> '' OR attidentity = 'a' AS generated
     FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  return rows;
}

function checkColumns(columns: readonly TableColumn[], wanted: Wanted, doing: Doing): void {
  const missing = wanted.columns.filter((name) => !columns.some((column) => column.name === name && !column.generated));
  const unfilled = columns.filter(
    ({ name, nullable, hasDefault }) => !wanted.columns.includes(name) && !nullable && !hasDefault,
  );
  const problems = [
    ...missing.map((name) => `it has no column ${name} that can be written`),
    ...unfilled.map(({ name }) => `its column ${name} takes no null, has no default, and is not among the sink's`),
  ];
  if (problems.length === 0) return;
  throw new UsageError(
    "postgres-columns",
    `sink ${doing.sink}: the table ${doing.table} does not fit: ${problems.join("; ")}`,
    {
      wayOut: "Change `columns` of the sink, or the table.",
      place: placeOf(doing),
    },
  );
}

/** Without such an index PostgreSQL could not tell which row gives way. */
async function checkUnique(client: ClientBase, table: number, { upsert }: Wanted, doing: Doing): Promise<void> {
  const { rows } = await client.query<{ columns: string[] }>(
    `SELECT array_agg(attname::text) AS columns FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
     WHERE indrelid = $1 AND indisunique AND indpred IS NULL AND indexprs IS NULL GROUP BY indexrelid`,
    [table],
  );
  const wanted = [...upsert].sort().join();
  if (rows.some(({ columns }) => columns.sort().join() === wanted)) return;
  throw new UsageError(
    "postgres-upsert",
    `sink ${doing.sink}: the table ${doing.table} has no unique index on ${upsert.join(", ")}`,
    {
      wayOut: `CREATE UNIQUE INDEX ON ${doing.table} (${upsert.join(", ")}), or make them its primary key.`,
      place: placeOf(doing),
    },
  );
}
