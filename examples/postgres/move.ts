import { type ClientBase, escapeIdentifier } from "pg";
import type { Staged } from "./staged.ts";
import type { Table } from "./table.ts";

/**
 * Moves an epoch's rows from the staging table into the user's, in the order of stages, tasks and rows. Of rows that agree in the columns of `upsert` the last one counts.
 *
 * @returns how many were staged
 */
export async function moveRows(
  client: ClientBase,
  { name, columns, upsert }: Table,
  { uid, sink, epoch }: { readonly uid: string; readonly sink: string; readonly epoch: number },
  parts: readonly Staged[],
): Promise<number> {
  const names = columns.map((column) => escapeIdentifier(column.name));
  const keys = upsert.map(escapeIdentifier);
  const own = (column: string) => `converted.${column}`;
  const distinct = keys.length > 0 ? `DISTINCT ON (${keys.map(own).join()})` : "";
  const last = "taken.stage DESC, taken.task DESC, taken.position DESC";
  const order = keys.length > 0 ? `${keys.map(own).join()}, ${last}` : "taken.stage, taken.task, taken.position";
  const { rows } = await client.query<{ moved: string }>(
    `WITH named AS (SELECT * FROM jsonb_to_recordset($4) AS part (attempt bigint, stage bigint, task bigint, nonce text)),
       taken AS (
         DELETE FROM epochflow.staged AS row USING named AS part
         WHERE (row.uid, row.sink, row.epoch) = ($1, $2, $3)
           AND (row.attempt, row.stage, row.task, row.nonce) = (part.attempt, part.stage, part.task, part.nonce)
         RETURNING row.stage, row.task, row.position, row.content),
       written AS (
         INSERT INTO ${name} (${names.join()})
         SELECT ${names.join()} FROM (
           SELECT ${distinct} ${names.map(own).join()} FROM taken, jsonb_populate_record(NULL::${name}, taken.content) AS converted
           ORDER BY ${order}) AS ordered
         ${keys.length > 0 ? onConflict(names, keys) : ""})
     SELECT count(*) AS moved FROM taken`,
    [uid, sink, epoch, JSON.stringify(parts)],
  );
  return Number(rows[0]!.moved);
}

function onConflict(names: readonly string[], keys: readonly string[]): string {
  const others = names.filter((name) => !keys.includes(name));
  const change = others.map((name) => `${name} = excluded.${name}`).join();
  return `ON CONFLICT (${keys.join()}) DO ${change ? `UPDATE SET ${change}` : "NOTHING"}`;
}
