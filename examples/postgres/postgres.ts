/**
 * A sink that writes rows into a table of PostgreSQL, each once: the example of a sink of one's own, which docs/writing-a-sink.md leads through. Copy the folder and change what you
 * like; it takes the package `pg`.
 */
import {
  checkOptions,
  customSink,
  type environment,
  type OrParameter,
  type SinkDescription,
  type secret,
  UsageError,
} from "epochflow";

export interface PostgresConnectionOptions {
  /** Name of the server, or the folder of its socket. */
  readonly host: OrParameter<string>;
  /** Default 5432. */
  readonly port?: OrParameter<string> | number;
  readonly database: OrParameter<string>;
  readonly user: OrParameter<string>;
  /** `environment("PGPASSWORD")`, or `secret(async () => …)`. It is asked for with each new connection. */
  readonly password?: ReturnType<typeof environment> | ReturnType<typeof secret>;
  /** Encrypted, with a certificate that is checked; `ca` is the authority's, as PEM text. Default false. */
  readonly tls?: boolean | { readonly ca: OrParameter<string> };
}

export interface PostgresSinkOptions<T> {
  readonly connection: PostgresConnectionOptions;
  /** The table, which must exist, and belongs to this sink alone: "word_counts", or with its schema "shop.word_counts". */
  readonly table: OrParameter<string>;
  /** Columns that rows fill, each from its property of the same name. The others take their defaults. */
  readonly columns: readonly (keyof T & string)[];
  /** Columns of a unique index: a row takes the place of the one that agrees in them. Without it, all rows are added. */
  readonly upsert?: readonly (keyof T & string)[];
  /** Milliseconds that a statement may take; an epoch's rows are one. Default 60,000. */
  readonly timeoutMs?: number;
}

const names = ["connection", "table", "columns", "upsert", "timeoutMs"];
const connectionNames = ["host", "port", "database", "user", "password", "tls"];

export const postgres = {
  /**
   * An epoch's rows become visible as a whole, in one transaction, in the order of the epochs.
   *
   * @throws UsageError for an option that is unknown or not allowed
   */
  sink<T extends object>(given: PostgresSinkOptions<T>): SinkDescription<T> {
    checkOptions("postgres.sink()", given, names);
    checkOptions("connection of postgres.sink()", given.connection, connectionNames);
    const { connection, table, columns, upsert = [], timeoutMs = 60_000 } = given;
    checkColumns(columns, upsert);
    return customSink({
      name: "postgres",
      options: { connection, table, columns, upsert, timeoutMs },
      // What is committed is told by the table's own mark: in another table there is none.
      permanent: ["table"],
      create: async (settings) => new (await import("./sink.ts")).PostgresSink<T>(settings),
    });
  },
};

function checkColumns(columns: readonly string[], upsert: readonly string[]): void {
  const wayOut = 'columns: ["word", "count"], and of these upsert: ["word"].';
  if (!Array.isArray(columns) || columns.length === 0 || new Set(columns).size < columns.length)
    throw new UsageError("invalid-option", "columns of postgres.sink() must name columns, each once", { wayOut });
  const foreign = upsert.find((name) => !columns.includes(name));
  if (foreign !== undefined)
    throw new UsageError("invalid-option", `upsert of postgres.sink() names ${foreign}, which is none of its columns`, {
      wayOut,
    });
}
