import type { BoundOptions } from "epochflow";
import { type ClientBase, Pool } from "pg";
import type { PostgresConnectionOptions } from "./postgres.ts";

/** Connections that a task, or a commit, needs at a time are one; a process has several tasks. */
const mostConnections = 4;

/** @param timeoutMs milliseconds after which the server gives a statement up, and the client a server that does not answer */
export function connect(options: BoundOptions<PostgresConnectionOptions>, timeoutMs: number): Pool {
  const { host, port = 5432, database, user, password, tls = false } = options;
  const pool = new Pool({
    ...{ host, port: Number(port), database, user, ssl: typeof tls === "object" ? { ca: tls.ca } : tls },
    ...(password && { password: () => password.reveal() }),
    max: mostConnections,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 10_000,
    allowExitOnIdle: true,
    application_name: "epochflow",
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + 5000,
    // A committer that stands still holds the table's lock: the server ends its transaction, and another one goes on.
    idle_in_transaction_session_timeout: timeoutMs,
    // What is acknowledged must be durable, whatever the server's default is.
    options: "-c synchronous_commit=on",
  });
  // A connection may break at any moment. Whoever uses it is told by its query; without these, the event that tells it besides would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Commits what the body does, or undoes it. A connection on which this fails is of no more use. */
export async function inTransaction<Result>(
  pool: Pool,
  body: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query("BEGIN");
    const result = await body(client);
    await client.query("COMMIT");
    isBroken = false;
    return result;
  } catch (error) {
    await client.query("ROLLBACK").then(
      () => (isBroken = false),
      () => {},
    );
    throw error;
  } finally {
    client.release(isBroken);
  }
}
