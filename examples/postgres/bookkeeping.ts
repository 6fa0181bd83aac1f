import { type CommitContext, type Json, LossError } from "epochflow";
import type { ClientBase } from "pg";
import { type Doing, marker, placeOf } from "./errors.ts";

/**
 * What the sink keeps in the database beside its table: rows of epochs that are not committed yet, and for each table one line, which is its owner's mark, says which epoch it has got,
 * and is locked by whoever commits.
 */
const schema = `
  CREATE SCHEMA IF NOT EXISTS epochflow;
  CREATE TABLE IF NOT EXISTS epochflow.tables (
    name text PRIMARY KEY, pipeline text NOT NULL, uid text NOT NULL, sink text NOT NULL,
    epoch bigint NOT NULL DEFAULT 0, token text NOT NULL DEFAULT '', outcome text NOT NULL DEFAULT 'committed', changed_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE IF NOT EXISTS epochflow.staged (
    uid text, sink text, epoch bigint, attempt bigint, stage bigint, task bigint, nonce text, position bigint, content jsonb NOT NULL,
    PRIMARY KEY (uid, sink, epoch, attempt, stage, task, nonce, position));`;

export interface Owner {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
}

/** The last epoch that the table has got, or that was given up. */
export interface Marker {
  readonly epoch: number;
  readonly token: string;
  readonly outcome: "committed" | "abandoned";
}

/** Makes what is missing. One at a time: two that create the same at once would fail. */
export async function createBookkeeping(client: ClientBase): Promise<void> {
  const { rows } = await client.query(
    "SELECT to_regclass('epochflow.tables') AS one, to_regclass('epochflow.staged') AS other",
  );
  if (rows[0].one && rows[0].other) return;
  await client.query("SELECT pg_advisory_xact_lock(hashtext('epochflow'))");
  await client.query(schema);
}

/** Marks the table as ours. @throws LossError `foreign-table` */
export async function takePossession(client: ClientBase, owner: Owner, doing: Doing): Promise<void> {
  const { pipeline, uid, sink } = owner;
  await client.query(
    "INSERT INTO epochflow.tables (name, pipeline, uid, sink) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    [doing.table, pipeline, uid, sink],
  );
  await lockMarker(client, owner, doing, "FOR SHARE");
}

/**
 * Waits until nobody else commits to the table, and keeps others waiting until the transaction ends: so what is read is what there is (I4), and a committer that was held up finds what
 * others did meanwhile.
 *
 * @throws LossError `foreign-table`
 */
export async function lockMarker(client: ClientBase, owner: Owner, doing: Doing, lock = "FOR UPDATE"): Promise<Marker> {
  const { rows } = await client.query<Owner & { epoch: string; token: string; outcome: Marker["outcome"] }>(
    `SELECT pipeline, uid, sink, epoch, token, outcome FROM epochflow.tables WHERE name = $1 ${lock}`,
    [doing.table],
  );
  const [found] = rows;
  if (found?.pipeline === owner.pipeline && found.uid === owner.uid && found.sink === owner.sink)
    return { epoch: Number(found.epoch), token: found.token, outcome: found.outcome };
  const other = found ? `sink ${found.sink} of pipeline ${found.pipeline} (ledger ${found.uid})` : "nobody any more";
  throw new LossError("foreign-table", `sink ${doing.sink}: the table ${doing.table} belongs to ${other}`, {
    wayOut: `Give this sink a table of its own. If that pipeline is gone for good: DELETE FROM epochflow.tables WHERE name = '${doing.table}'.`,
    place: placeOf(doing),
  });
}

export async function setMarker(client: ClientBase, { epoch, token, outcome }: Marker, doing: Doing): Promise<void> {
  await client.query(
    "UPDATE epochflow.tables SET epoch = $2, token = $3, outcome = $4, changed_at = now() WHERE name = $1",
    [doing.table, ...[epoch, token, outcome]],
  );
}

/** The part of a unit that says where it belongs. */
export type Place = { readonly token: string; readonly previous: number | null };

/**
 * Whether a unit is to be written: its marker is the one of the epoch before. If it is there already, or is a zombie's, it is done.
 *
 * @throws LossError where ledger and table do not know of the same epochs
 */
export async function isNext(
  { epoch, unit, ledger }: CommitContext<Place & Json>,
  at: Marker,
  doing: Doing,
): Promise<boolean> {
  if (at.epoch === epoch) {
    if (at.token === unit.token) return false;
    throw marker("postgres-other-epoch", `the table has another epoch ${epoch} than the ledger`, doing);
  }
  if (at.epoch > epoch) {
    if ((await ledger.committed()) >= epoch) return false;
    throw marker("postgres-old-ledger", `the table has epoch ${at.epoch}, and the ledger not even ${epoch}`, doing);
  }
  // An epoch that was given up may never have got its mark.
  for (let previous = unit.previous; ; ) {
    if ((previous ?? 0) === at.epoch) return true;
    const before = previous === null ? undefined : await ledger.unit(previous);
    if (before?.status !== "abandoned")
      throw marker(
        "postgres-old-table",
        `the ledger says that the table has epoch ${previous}, but its mark says ${at.epoch}`,
        doing,
      );
    previous = (before.unit as Place).previous;
  }
}
